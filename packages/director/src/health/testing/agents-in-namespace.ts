import { createInterface } from "node:readline";
import { systemClock } from "@slipway/kernel/clock";
import { dial, type NatsCredentials, readNatsUrl } from "@slipway/kernel/nats/dial";
import { heartbeatOf } from "./heartbeat.ts";

/** Order to the program, a line each; each is answered with a line. */
export type Order =
  | {
      readonly connect: readonly { readonly id: string; readonly credentials: NatsCredentials }[];
      readonly url: string;
    }
  | { readonly beat: true };

/** Runs agents in the namespace of this program: they answer, and send heartbeats when ordered. */
async function main(): Promise<void> {
  const agents = new Map<string, Awaited<ReturnType<typeof dial>>>();
  for await (const line of createInterface({ input: process.stdin })) {
    const order = JSON.parse(line) as Order;
    if ("connect" in order)
      for (const { id, credentials } of order.connect) {
        const connection = await dial(readNatsUrl(order.url), credentials, id, systemClock);
        connection.subscribe(`agent.${id}`, {
          callback: (_, message) => {
            const { method, reply_to } = JSON.parse(message.string()) as { method: string; reply_to: string };
            const state = { job_state: "running", networks: {}, processes: [] };
            connection.publish(
              reply_to,
              JSON.stringify({ value: method === "list_disk" ? ["disk-1"] : state }),
            );
          },
        });
        await connection.flush();
        agents.set(id, connection);
      }
    else
      for (const [id, connection] of agents)
        connection.publish(`hm.agent.heartbeat.${id}`, JSON.stringify(heartbeatOf()));
    process.stdout.write("done\n");
  }
}

void main().then(() => process.exit(0));
