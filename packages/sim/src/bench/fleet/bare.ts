import { Agent, request } from "node:https";
import { directorCredentials } from "@slipway/engine/agents/nats/nats-way";
import type { Authority } from "@slipway/engine/pki/authority";
import type { Clock } from "@slipway/kernel/clock";
import { dial, readNatsUrl } from "@slipway/kernel/nats/dial";
import { heartbeatSubject } from "@slipway/protocol/agent/subjects";
import { cpuMs } from "./cpu.ts";
import { addressOf } from "./orders.ts";

/** What the same costs whoever does nothing else; processor time of each, in ms. */

/** Heartbeats that are received and parsed. */
export async function bareHeartbeats(
  url: string,
  authority: Authority,
  clock: Clock,
  forMs: number,
): Promise<number> {
  const trust = () => ({ authority, serverCa: authority.ca });
  const credentials = await directorCredentials({ trust, clock })();
  const connection = await dial(readNatsUrl(url), credentials, "bare", clock);
  let heard = 0;
  connection.subscribe(heartbeatSubject("*"), {
    callback: (_, message) => {
      if ((JSON.parse(message.string()) as { job_state?: string }).job_state === "running") heard += 1;
    },
  });
  await connection.flush();
  const before = cpuMs();
  await clock.sleep(forMs);
  const spent = cpuMs() - before;
  await connection.close();
  return spent / heard;
}

/** Polls: a connection of its own, and two questions over it. */
export async function barePolls(port: number, authority: Authority, count: number): Promise<number> {
  const client = { commonName: "bare", sans: { dns: [], ips: [] }, usage: "client", days: 1 } as const;
  const { ca, certificate: cert, privateKey: key } = await authority.issue(client);
  const before = cpuMs();
  for (let nth = 0; nth < count; nth += 1) {
    const agent = new Agent({ keepAlive: true, ca, cert, key, checkServerIdentity: () => undefined });
    const to = { agent, host: addressOf(nth), port, path: "/agent", method: "POST" };
    await asked(to, "get_state");
    await asked(to, "list_disk");
    agent.destroy();
  }
  return (cpuMs() - before) / count;
}

const asked = (to: object, method: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const call = request(to, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("end", () => resolve(JSON.parse(Buffer.concat(pieces).toString())));
    });
    call.on("error", reject);
    call.end(JSON.stringify({ protocol: 3, method, arguments: [], reply_to: "bare" }));
  });
