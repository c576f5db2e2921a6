import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { SimClients } from "../director/director-in-sim.ts";
import type { SimAnswer } from "../world/sim-agent.ts";

/** One thing a Director asked of the world. */
export type OutsideCall =
  | { readonly nth: number; readonly peer: "cpi"; readonly method: string; readonly request: CpiRequest }
  | {
      readonly nth: number;
      readonly peer: "agent";
      readonly method: string;
      readonly agentId: string;
      readonly args: readonly unknown[];
    };

/** Changes the outcome of a call. `carryOut` does it in the world; undefined lets the call pass. */
export interface Interference {
  cpi?(call: OutsideCall, carryOut: () => Promise<CpiResponse>): Promise<CpiResponse> | undefined;
  ask?(call: OutsideCall, carryOut: () => Promise<SimAnswer>): Promise<SimAnswer> | undefined;
}

export interface WatchedClients {
  readonly clients: SimClients;
  readonly calls: readonly OutsideCall[];
  /** Returns the calls that change something outside. */
  readonly changing: () => readonly string[];
}

const QUESTIONS = new Set([
  ...["info", "has_vm", "has_disk", "get_disks", "get_vm_log", "list_resources"],
  ...["ping", "get_state", "list_disk", "get_blob"],
]);

/** Counts the calls of the clients, and lets a driver interfere with each. */
export function watchClients(real: SimClients, interference: Interference = {}): WatchedClients {
  const calls: OutsideCall[] = [];
  return {
    calls,
    changing: () => calls.map(nameOf).filter((_, at) => !QUESTIONS.has(calls[at]?.method ?? "")),
    clients: {
      cpi: (request) => {
        const call = { nth: calls.length + 1, peer: "cpi", method: request.method, request } as const;
        calls.push(call);
        const carryOut = () => real.cpi(request);
        return interference.cpi?.(call, carryOut) ?? carryOut();
      },
      ask: (agentId, method, args) => {
        const call = { nth: calls.length + 1, peer: "agent", method, agentId, args } as const;
        calls.push(call);
        const carryOut = () => real.ask(agentId, method, args);
        return interference.ask?.(call, carryOut) ?? carryOut();
      },
    },
  };
}

export const nameOf = ({ peer, method }: OutsideCall): string => `${peer} ${method}`;
