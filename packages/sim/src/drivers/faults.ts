import { CpiLost } from "@slipway/engine/clouds/cloud";
import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { Interference, OutsideCall } from "./watch-clients.ts";

/** Faults of a single call. */
export type Fault =
  /** The CPI answers with an error and has done nothing. */
  | "refused"
  /** The CPI ends without an answer, before or after the work. */
  | "lost before"
  | "lost after"
  /** The agent answers with an exception and has done nothing. */
  | "exception"
  /** No answer to this message, before or after the work. */
  | "silent before"
  | "silent after"
  /** This agent never answers again. */
  | "dead";

export const FAULTS: Readonly<Record<OutsideCall["peer"], readonly Fault[]>> = {
  cpi: ["refused", "lost before", "lost after"],
  agent: ["exception", "silent before", "silent after", "dead"],
};

export const CAUSE = "struck by the driver";

export const cpiError = (type: string, message: string, okToRetry = false): CpiResponse => ({
  result: null as never,
  error: { type, message, ok_to_retry: okToRetry },
  log: "",
});

export interface Struck {
  readonly interference: Interference;
  /** The call that was hit. */
  readonly hit: () => OutsideCall | undefined;
  /** Agents that are dead now, and stay so in later runs. */
  readonly dead: ReadonlySet<string>;
}

/** Lets the n-th call fail. */
export function strike(nth: number, fault: Fault): Struck {
  let hit: OutsideCall | undefined;
  const dead = new Set<string>();
  return {
    hit: () => hit,
    dead,
    interference: {
      cpi: (call, carryOut) => {
        if (call.nth !== nth) return undefined;
        hit = call;
        if (fault === "refused") return Promise.resolve(cpiError("Bosh::Clouds::CloudError", CAUSE));
        return lost(call, fault === "lost after" ? carryOut : undefined);
      },
      ask: (call, carryOut) => {
        if (call.peer === "agent" && dead.has(call.agentId)) return Promise.resolve({ silent: CAUSE });
        if (call.nth !== nth || call.peer !== "agent") return undefined;
        hit = call;
        if (fault === "exception") return Promise.resolve({ exception: CAUSE });
        if (fault === "dead") dead.add(call.agentId);
        return silent(fault === "silent after" ? carryOut : undefined);
      },
    },
  };
}

async function lost({ method }: OutsideCall, work: (() => Promise<unknown>) | undefined): Promise<never> {
  await work?.();
  throw new CpiLost(method, `Invalid CPI response - ${CAUSE}`);
}

async function silent(work: (() => Promise<unknown>) | undefined): Promise<{ readonly silent: string }> {
  await work?.();
  return { silent: CAUSE };
}

/** The world as the faults left it: the dead do not answer, all else works. */
export const onlyDead = (dead: ReadonlySet<string>): Interference => ({
  ask: (call) =>
    call.peer === "agent" && dead.has(call.agentId) ? Promise.resolve({ silent: CAUSE }) : undefined,
});
