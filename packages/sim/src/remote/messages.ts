import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { SimAnswer } from "../world/sim-agent.ts";

/** One line each way over a socket. */
export type ToWorld =
  | { readonly id: number; readonly cpi: CpiRequest; readonly of?: string }
  | {
      readonly id: number;
      readonly agent: string;
      readonly method: string;
      readonly args: readonly unknown[];
    };

export type FromWorld =
  | { readonly id: number; readonly response: CpiResponse }
  | { readonly id: number; readonly answer: SimAnswer };
