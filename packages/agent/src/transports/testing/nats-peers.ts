import type { Clock } from "@slipway/kernel/clock";
import { systemClock } from "@slipway/kernel/clock";
import { dial, readNatsUrl } from "@slipway/kernel/nats/dial";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentReply } from "@slipway/protocol/agent/envelope";
import { AGENT, DIRECTOR, HEALTH_MONITOR } from "@slipway/testkit/certificates";
import { AGENT_ID, type TestNatsServer } from "@slipway/testkit/nats-server";
import { onTestFinished } from "vitest";
import type { Log } from "../../log.ts";
import { natsTransport } from "../nats.ts";
import type { TransportCredentials } from "../transport.ts";

/** Pauses are short, deadlines are real. */
export const quickClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 20), signal),
};

/** A message is tried sixty times: with these pauses for long enough, however slowly a server starts. */
export const patientClock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 500), signal),
};

/** Deadlines are short as well while there is nothing to wait for. */
export function hastyClock(): { readonly clock: Clock; hasty: boolean } {
  const own = {
    hasty: false,
    clock: {
      ...patientClock,
      after: (ms: number, callback: () => void) =>
        systemClock.after(own.hasty ? Math.min(ms, 400) : ms, callback),
    },
  };
  return own;
}

export function agentOn(
  server: Pick<TestNatsServer, "url">,
  credentials: TransportCredentials = AGENT,
  clock = quickClock,
) {
  const lines: string[] = [];
  const note = (line: string) => void lines.push(line);
  const log: Log = { info: note, warn: note, error: note };
  const transport = natsTransport({
    urls: [server.url],
    credentials,
    agentId: AGENT_ID,
    clock,
    random: systemRandom,
    log,
  });
  onTestFinished(() => transport.close());
  return { transport, lines };
}

export interface BusRequest {
  readonly args?: readonly unknown[];
  readonly replyTo?: string;
}

/** A Director on the bus: sends requests and waits for what comes back, as long as the test lasts. */
export async function directorOn(server: TestNatsServer) {
  const connection = await dial(readNatsUrl(server.url), DIRECTOR, "director", systemClock);
  onTestFinished(() => connection.close());
  const replies: { readonly subject: string; readonly text: string }[] = [];
  const waiting = new Map<string, (text: string) => void>();
  connection.subscribe("director.>", {
    callback: (_, message) => {
      replies.push({ subject: message.subject, text: message.string() });
      waiting.get(message.subject)?.(message.string());
    },
  });
  await connection.flush();
  // Every process of a Director has its own: two requests with the same subject would be the same request.
  const process = systemRandom.uuid();
  let count = 0;
  const send = (body: string) => connection.publish(`agent.${AGENT_ID}`, body);
  const request = (method: string, { args = [], replyTo }: BusRequest = {}) => {
    const subject = replyTo ?? `director.${process}.${AGENT_ID}.r${++count}`;
    return { subject, body: JSON.stringify({ protocol: 3, method, arguments: args, reply_to: subject }) };
  };
  const ask = (method: string, asking: BusRequest = {}): Promise<AgentReply> => {
    const { subject, body } = request(method, asking);
    const replied = new Promise<string>((resolve) => waiting.set(subject, resolve));
    send(body);
    return replied.then((text) => JSON.parse(text) as AgentReply);
  };
  return { process, replies, send, request, ask };
}

/** Everything the Health Monitor hears, in order. */
export async function healthMonitorOn(server: TestNatsServer) {
  const connection = await dial(readNatsUrl(server.url), HEALTH_MONITOR, "hm", systemClock);
  onTestFinished(() => connection.close());
  const heard: [subject: string, text: string][] = [];
  for (const topic of ["heartbeat", "alert", "shutdown"])
    connection.subscribe(`hm.agent.${topic}.*`, {
      callback: (_, message) => void heard.push([message.subject, message.string()]),
    });
  await connection.flush();
  return heard;
}
