import { CpiLost } from "@slipway/engine/clouds/cloud";
import type { SimClients } from "../director/director-in-sim.ts";
import { BUS } from "../world/bus.ts";

/**
 * Fault of one call. `refused`: an error for an answer, and nothing is done. `lost`: it is done, and the answer is
 * lost. `slow`: the caller gives up, and it is done when nobody waits any more. `crash`: it is done, and the Director dies.
 */
export type CallFault = "refused" | "lost" | "slow" | "crash";

export const FAULTS = {
  cpi: ["refused", "lost", "slow", "crash"],
  agent: ["refused", "lost", "crash"],
} as const satisfies Record<string, readonly CallFault[]>;

type Peer = keyof typeof FAULTS;

/** Strikes the nth call of a Director's life, by whom it calls. */
export interface SecondFault {
  readonly nth: number;
  readonly cpi: CallFault;
  readonly agent: CallFault;
}

export interface StruckClients {
  readonly clients: SimClients;
  /** The calls made, in order: `cpi create_vm`. */
  readonly calls: readonly string[];
  /** Describes the fault that was met; undefined: the life had fewer calls. */
  readonly hit: () => string | undefined;
  /** Does what slow calls were to do. */
  readonly catchUp: () => Promise<void>;
}

const WHY = "struck by the driver";

/** Puts a fault into the clients of a Director. `crash` is called at its death: nothing is done afterwards. */
export function strike(
  real: SimClients,
  second: SecondFault | undefined,
  crash: () => Promise<void>,
): StruckClients {
  const calls: string[] = [];
  const late: (() => Promise<unknown>)[] = [];
  let hit: string | undefined;
  let death: Promise<void> | undefined;
  /** Returns undefined when the call goes its usual way. */
  const meet = async (
    peer: Peer,
    method: string,
    work: () => Promise<unknown>,
  ): Promise<CallFault | undefined> => {
    if (death !== undefined) {
      await death;
      return "lost";
    }
    calls.push(`${peer} ${method}`);
    if (calls.length !== second?.nth) return undefined;
    const fault = second[peer];
    hit = `${fault} at ${calls.length} (${peer} ${method})`;
    if (fault === "slow") late.push(work);
    if (fault === "lost" || fault === "crash") await work();
    if (fault === "crash") {
      death = crash();
      await death;
    }
    return fault;
  };
  return {
    calls,
    hit: () => hit,
    catchUp: async () => {
      for (const work of late.splice(0)) await work();
    },
    clients: {
      cpi: async (request, of) => {
        const work = () => real.cpi(request, of);
        const fault = await meet("cpi", request.method, work);
        if (fault === undefined) return await work();
        if (fault !== "refused") throw new CpiLost(request.method, `Invalid CPI response - ${WHY}`);
        const error = { type: "Bosh::Clouds::CloudError", message: WHY, ok_to_retry: false };
        return { result: null as never, error, log: "" };
      },
      ask: async (agent, method, args) => {
        const work = () => real.ask(agent, method, args);
        // The bus is the Director's own.
        if (agent === BUS) return await work();
        const fault = await meet("agent", method, work);
        if (fault === undefined) return await work();
        return fault === "refused" ? { exception: WHY } : { silent: WHY };
      },
    },
  };
}
