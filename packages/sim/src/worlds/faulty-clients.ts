import { CpiLost } from "@slipway/engine/clouds/cloud";
import type { SimClients } from "../director/director-in-sim.ts";
import { CAUSE, cpiError } from "../drivers/faults.ts";
import type { SimWorld } from "../world/world.ts";
import { AGENT_FAULTS, CPI_FAULTS, type HistoryPlan } from "./plan.ts";

/** Calls to CPIs and agents of one history, some of which fail as planned. */
export class Faults {
  readonly #world: SimWorld;
  readonly #planned: ReadonlyMap<number, number>;
  #calls = 0;
  /** False once faults cease. */
  areOn = true;
  /** Faults that calls have met, such as `create_vm: lost after`. */
  readonly struck: string[] = [];

  constructor(world: SimWorld, plan: HistoryPlan) {
    this.#world = world;
    this.#planned = new Map(plan.faults.map(({ call, fault }) => [call, fault]));
  }

  clients(real: SimClients): SimClients {
    return {
      cpi: async (request, of) => {
        const fault = this.#next(CPI_FAULTS, request.method);
        const { method } = request;
        if (fault === "refused") return cpiError("Bosh::Clouds::CloudError", CAUSE);
        if (fault === "retry") return cpiError("Bosh::Clouds::CloudError", CAUSE, true);
        if (fault === "lost before") throw new CpiLost(method, `Invalid CPI response - ${CAUSE}`);
        const reply = await real.cpi(request, of);
        if (fault === "lost after") throw new CpiLost(method, `Invalid CPI response - ${CAUSE}`);
        return reply;
      },
      ask: async (agent, method, args) => {
        const fault = this.#next(AGENT_FAULTS, method);
        if (fault === "exception") return { exception: CAUSE };
        if (fault === "dead") this.#world.deaf.add(agent);
        if (fault === "dead" || fault === "silent before") return { silent: CAUSE };
        const answer = await real.ask(agent, method, args);
        return fault === "silent after" ? { silent: CAUSE } : answer;
      },
    };
  }

  #next<T extends string>(faults: readonly T[], method: string): T | undefined {
    this.#calls += 1;
    const planned = this.areOn ? this.#planned.get(this.#calls) : undefined;
    if (planned === undefined) return undefined;
    const fault = faults[planned % faults.length];
    this.struck.push(`${method}: ${fault}`);
    return fault;
  }
}
