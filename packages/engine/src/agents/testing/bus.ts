import { type Clock, systemClock } from "@slipway/kernel/clock";
import { dial, type NatsCredentials, readNatsUrl } from "@slipway/kernel/nats/dial";
import { systemRandom } from "@slipway/kernel/random";
import { replySubject } from "@slipway/protocol/agent/subjects";
import type { AgentId } from "@slipway/protocol/ids";
import { AGENT, DIRECTOR } from "@slipway/testkit/certificates";
import { AGENT_ID, type TestNatsServer } from "@slipway/testkit/nats-server";
import { onTestFinished } from "vitest";
import { agentClient } from "../agent-client.ts";
import { NatsBus } from "../nats/bus.ts";
import { natsTransport } from "../nats/nats-transport.ts";

export interface AskedOverNats {
  readonly method: string;
  readonly arguments: readonly unknown[];
  readonly protocol: number;
  readonly reply_to: string;
}

/** Handler of a fake agent's messages: `answer` publishes to the subject that the message names, or to another. */
export type Says = (
  asked: AskedOverNats,
  answer: (reply: unknown, subject?: string) => void,
) => void | Promise<void>;

/** Our side of the agent of the test certificates. */
export function directorOn(server: Pick<TestNatsServer, "url">, clock: Clock = systemClock) {
  const warnings: string[] = [];
  const warn = (line: string) => void warnings.push(line);
  const bus = new NatsBus({
    urls: [server.url],
    credentials: () => Promise.resolve(DIRECTOR),
    clock,
    random: systemRandom,
    warn,
  });
  onTestFinished(() => bus.close());
  const transport = natsTransport(AGENT_ID as AgentId, { bus });
  return { bus, transport, warnings, agent: agentClient(transport, { clock, warn }) };
}

/** An agent that talks as a test says, and connects once. */
export async function fakeAgentOn(
  server: Pick<TestNatsServer, "url">,
  says: Says,
  credentials: NatsCredentials = AGENT,
) {
  const connection = await dial(readNatsUrl(server.url), credentials, AGENT_ID, systemClock);
  onTestFinished(() => connection.close());
  const asked: AskedOverNats[] = [];
  connection.subscribe(`agent.${AGENT_ID}`, {
    callback: (_, message) => {
      const question = JSON.parse(message.string()) as AskedOverNats;
      asked.push(question);
      const answer = (reply: unknown, subject = question.reply_to) =>
        connection.publish(subject, typeof reply === "string" ? reply : JSON.stringify(reply));
      void says(question, answer);
    },
  });
  await connection.flush();
  return { asked, connection, methods: () => asked.map(({ method }) => method) };
}

/** The same request's subject, as another agent would have to write it. */
export const asIfOf = (subject: string, agentId: string): string => {
  const [, process = "", , request = ""] = subject.split(".");
  return replySubject(process, agentId, request);
};
