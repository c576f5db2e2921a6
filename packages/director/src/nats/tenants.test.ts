import { join } from "node:path";
import { agentName, bootstrapName, DIRECTOR_NAME, natsClient } from "@slipway/engine/agents/nats/names";
import { openAuthority } from "@slipway/engine/pki/authority";
import { systemClock } from "@slipway/kernel/clock";
import { dial, readNatsUrl } from "@slipway/kernel/nats/dial";
import { systemRandom } from "@slipway/kernel/random";
import {
  agentSubject,
  alertSubject,
  DIRECTOR_ALERT_SUBJECT,
  heartbeatSubject,
  replySubject,
  shutdownSubject,
} from "@slipway/protocol/agent/subjects";
import type { AgentId } from "@slipway/protocol/ids";
import { freePort } from "@slipway/testkit/free-port";
import { natsServerAvailable } from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { ManagedServer } from "./managed-server.ts";

const here = needs("nats-server", natsServerAvailable(), "nats-server is not installed");
const A = "agent-of-a" as AgentId;
const B = "agent-of-b" as AgentId;
/** Subjects of all messages to, by or about the agent of the other deployment. */
const OF_A = [
  ...[agentSubject(A), heartbeatSubject(A), alertSubject(A), shutdownSubject(A)],
  ...[replySubject("process", A, "request"), DIRECTOR_ALERT_SUBJECT],
];
const EVERYTHING = [">", "*", "*.*", "agent.>", "agent.*", "hm.>", "hm.agent.*.*", "director.>", "_INBOX.>"];

/** A real server with an agent of each deployment, and connections with the certificates that VMs have. */
async function started() {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const authority = await openAuthority({ dir: join(path, "pki"), clock: systemClock, random: systemRandom });
  const port = await freePort();
  const server = new ManagedServer({
    ...{ program: "nats-server", dir: join(path, "nats"), host: "127.0.0.1", port, names: [] },
    trust: () => ({ authority, clientCa: authority.ca }),
    ...{ clock: systemClock, warn: () => undefined },
  });
  onTestFinished(() => server.close());
  await server.start([A, B].map((agentId) => ({ agentId, lasting: false })));
  return async (name: string) => {
    const issued = await authority.issue({ ...natsClient(name), days: 1 });
    const url = readNatsUrl(`nats://127.0.0.1:${port}`);
    const connection = await dial(url, { ...issued, ca: authority.ca }, name, systemClock);
    onTestFinished(() => connection.close());
    const heard: string[] = [];
    const listen = async (subjects: readonly string[]) => {
      for (const subject of subjects)
        connection.subscribe(subject, {
          callback: (refused, message) => {
            if (refused === null) heard.push(`${message.subject}: ${message.string()}`);
          },
        });
      await connection.flush();
    };
    const say = async (subjects: readonly string[], text: string) => {
      for (const subject of subjects) connection.publish(subject, text);
      await connection.flush();
    };
    /** Returns everything that the server had for the connection by now. */
    const soFar = async () => {
      await connection.flush();
      return heard;
    };
    return { listen, say, soFar };
  };
}

describe.runIf(here)("an agent on NATS", () => {
  it.each([
    ["its certificate", agentName(B)],
    ["the certificate it starts with", bootstrapName(B)],
  ])("hears nothing of another deployment's agent with %s", async (_, name) => {
    const connect = await started();
    const [director, ofA, ofB] = [
      await connect(DIRECTOR_NAME),
      await connect(agentName(A)),
      await connect(name),
    ];
    await ofB.listen([...EVERYTHING, ...OF_A, agentSubject(B)]);
    await director.listen(["director.>", "hm.agent.heartbeat.*"]);
    await ofA.listen([agentSubject(A)]);
    await director.say([agentSubject(A), DIRECTOR_ALERT_SUBJECT], "canary");
    await ofA.say([heartbeatSubject(A), replySubject("process", A, "request")], "canary");
    await director.say([agentSubject(B)], "hello");
    expect(await ofB.soFar()).toEqual([`${agentSubject(B)}: hello`]);
    expect(await ofA.soFar()).toEqual([`${agentSubject(A)}: canary`]);
    expect(await director.soFar()).toHaveLength(2);
  });

  it("says nothing to another deployment's agent or in its name", async () => {
    const connect = await started();
    const [director, ofA, ofB] = [
      await connect(DIRECTOR_NAME),
      await connect(agentName(A)),
      await connect(agentName(B)),
    ];
    await director.listen(["director.>", "hm.agent.heartbeat.*", "hm.agent.alert.*", "hm.agent.shutdown.*"]);
    await ofA.listen([agentSubject(A)]);
    await ofB.say(OF_A, "forged");
    await ofB.say([heartbeatSubject(B)], "own");
    expect(await director.soFar()).toEqual([`${heartbeatSubject(B)}: own`]);
    expect(await ofA.soFar()).toEqual([]);
  });

  it("would hear and say what is another's with the certificate of that agent: the checks notice it", async () => {
    const connect = await started();
    const [director, thief] = [await connect(DIRECTOR_NAME), await connect(agentName(A))];
    await thief.listen([...EVERYTHING, ...OF_A]);
    await director.listen(["hm.agent.heartbeat.*"]);
    await director.say([agentSubject(A)], "canary");
    await thief.say([heartbeatSubject(A)], "forged");
    expect(await thief.soFar()).toEqual([`${agentSubject(A)}: canary`]);
    expect(await director.soFar()).toEqual([`${heartbeatSubject(A)}: forged`]);
  });
});
