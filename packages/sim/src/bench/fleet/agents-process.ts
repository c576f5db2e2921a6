import { join } from "node:path";
import { agentName, natsClient } from "@slipway/engine/agents/nats/names";
import { openAuthority } from "@slipway/engine/pki/authority";
import type { Clock } from "@slipway/kernel/clock";
import { errorText, toError } from "@slipway/kernel/errors";
import type { Random } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import { BusAgent } from "./bus-agent.ts";
import { type FleetAgent, FleetAnswers } from "./fleet-agent.ts";
import { HttpsAgents } from "./https-agent.ts";
import { addressOf, agentIdOf, type FleetOrder, type FleetReport, type MbusEnv } from "./orders.ts";

const AT_ONCE = 32;
const SLICES = 50;

/** The process of the agents: takes orders until whoever gave them is gone. */
export function fleetAgents(tools: { readonly clock: Clock; readonly random: Random }): Promise<never> {
  const fleet = new Fleet(tools);
  let working: Promise<unknown> = Promise.resolve();
  process.on("message", (order: FleetOrder) => {
    working = working
      .then(() => fleet.carryOut(order))
      .then((): FleetReport => ({ asked: fleet.asked }))
      .catch((error: unknown): FleetReport => ({ asked: fleet.asked, error: errorText(toError(error)) }))
      .then((report) => process.send?.(report));
  });
  process.on("disconnect", () => process.exit(0));
  return new Promise(() => undefined);
}

class Fleet {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #agents = new Map<string, FleetAgent>();
  readonly #https = new HttpsAgents();
  asked = 0;

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  async carryOut(order: FleetOrder): Promise<void> {
    if (order.kind === "many") await this.#startMany(order);
    else if (order.kind === "one") await this.#start(order.agentId, order.ip, order.mbus, { isNew: true });
    else if (order.kind === "end") {
      this.#agents.get(order.agentId)?.end();
      this.#agents.delete(order.agentId);
    }
  }

  async #startMany(order: Extract<FleetOrder, { kind: "many" }>): Promise<void> {
    const { transport, count, stateDir, port, beatMs } = order;
    const tools = { clock: this.#clock, random: this.#random };
    const authority = await openAuthority({ dir: join(stateDir, "pki"), ...tools });
    const onBus = transport === "nats";
    const startNth = async (nth: number) => {
      const id = agentIdOf(nth);
      const server = { commonName: id, sans: { dns: [id], ips: [] }, usage: "server" } as const;
      const { ca, certificate, privateKey } = await authority.issue({
        ...(onBus ? natsClient(agentName(id as AgentId)) : { subject: "bosh", ...server }),
        days: 365,
      });
      const url = onBus ? `nats://127.0.0.1:${port}` : `https://${addressOf(nth)}:${port}`;
      const mbus = { urls: [url], cert: { ca, certificate, private_key: privateKey } };
      await this.#start(id, addressOf(nth), mbus, { isNew: false });
    };
    const numbers = Array.from({ length: count }, (_, nth) => nth).values();
    const starter = async () => {
      for (const nth of numbers) await startNth(nth);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, starter));
    if (onBus) this.#beatEvery(beatMs);
  }

  async #start(id: string, ip: string, mbus: MbusEnv, { isNew }: { readonly isNew: boolean }): Promise<void> {
    const { protocol, port: given } = new URL(mbus.urls[0] ?? "");
    const port = Number(given);
    const answers = new FleetAnswers(id, !isNew, () => {
      this.asked += 1;
    });
    const { cert } = mbus;
    if (protocol === "nats:") {
      const agent = new BusAgent({ id, port, cert, answers, clock: this.#clock });
      this.#agents.set(id, agent);
      // A VM that was just made boots while whoever made it goes on.
      if (isNew) void agent.start();
      else await agent.start();
    } else this.#agents.set(id, await this.#https.start({ ip, port, cert, answers }));
  }

  /** Not all at the same moment, as in a fleet that has grown. */
  #beatEvery(beatMs: number): void {
    let slice = 0;
    const beat = () => {
      slice = (slice + 1) % SLICES;
      let nth = 0;
      for (const agent of this.#agents.values()) if (nth++ % SLICES === slice) agent.beat?.();
      this.#clock.after(beatMs / SLICES, beat);
    };
    beat();
  }
}
