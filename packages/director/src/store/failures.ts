import { SlipwayError, systemCode, toError } from "@slipway/kernel/errors";
import { StoreFull, StoreLost, StoreRefused } from "./errors.ts";

const LOST_SYSTEM = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOENT",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENOTFOUND",
]);
/** Connection exceptions; shut down by an administrator, crashed, starting. */
const LOST_STATE = /^(08...|57P0[1235])$/;
/** Wrong user or password; no such database. */
const REFUSED_STATE = /^(28...|3D000)$/;
/** Disk full, out of memory, too many connections; an I/O error of the server. */
const FULL_STATE = /^(53...|58030)$/;
const LOST_WORDS =
  /Connection terminated|connection error and is not queryable|closed and is not queryable|timeout exceeded when trying to connect|timeout expired/i;

/** Returns the driver's error as one of ours if the server or the connection is at fault; others are returned as they are. */
export function fromDatabase(thrown: unknown, doing: string): Error {
  const error = toError(thrown);
  if (error instanceof SlipwayError) return error;
  const code = systemCode(error) ?? "";
  if (FULL_STATE.test(code)) return StoreFull({ why: error.message }, { cause: error });
  if (REFUSED_STATE.test(code)) return StoreRefused({ why: error.message }, { cause: error });
  if (LOST_SYSTEM.has(code) || LOST_STATE.test(code) || LOST_WORDS.test(error.message))
    return StoreLost({ doing }, { cause: error });
  return error;
}

/** The SQLSTATE of a refused statement, and the constraint that refused it. */
export const refusal = (
  error: unknown,
): { readonly state: string; readonly constraint: string } | undefined => {
  const state = systemCode(error);
  if (state === undefined || !/^[0-9A-Z]{5}$/.test(state)) return undefined;
  const { constraint } = error as { constraint?: unknown };
  return { state, constraint: typeof constraint === "string" ? constraint : "" };
};

export const UNIQUE_VIOLATION = "23505";
