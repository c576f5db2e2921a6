import { directorCredentials } from "@slipway/engine/agents/nats/nats-transport-provider";
import type { Authority } from "@slipway/engine/pki/authority";
import type { Clock } from "@slipway/kernel/clock";
import { HttpClient } from "@slipway/kernel/http/client";
import { dial, readNatsUrl } from "@slipway/kernel/nats/dial";
import { heartbeatSubject } from "@slipway/protocol/agent/subjects";
import { cpuMs } from "./cpu.ts";
import { addressOf } from "./orders.ts";

/** Processor time in ms of the same work in a process that does nothing else. */

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

/** Polls by Node's own client: a connection and a handshake for each, and two questions over it. */
export async function barePolls(
  port: number,
  authority: Authority,
  clock: Clock,
  count: number,
): Promise<number> {
  const asWhom = { commonName: "bare", sans: { dns: [], ips: [] }, usage: "client", days: 1 } as const;
  const { ca, certificate: cert, privateKey: key } = await authority.issue(asWhom);
  const tls = { ca, cert, key, checkServerIdentity: () => undefined };
  const before = cpuMs();
  for (let nth = 0; nth < count; nth += 1) {
    const client = new HttpClient({ origin: `https://${addressOf(nth)}:${port}`, clock, tls, keepMs: 1_000 });
    for (const method of ["get_state", "list_disk"]) {
      const body = JSON.stringify({ protocol: 3, method, arguments: [], reply_to: "bare" });
      const reply = await client.request({ method: "POST", path: "/agent", body });
      JSON.parse(await reply.text());
    }
    client.close();
  }
  return (cpuMs() - before) / count;
}
