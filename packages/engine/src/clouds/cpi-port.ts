import { methodDeadlineMs } from "@slipway/protocol/cpi/deadline";
import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { CpiMethodName } from "@slipway/protocol/cpi/methods";

export interface CpiPortOptions {
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Receives the CPI's log while it works, in chunks of any size. */
  readonly log: (text: string) => void;
  /** Takes out of a text what may not be shown of this call. */
  readonly hide: (text: string) => string;
}

/**
 * The way to one CPI. Fails with `CpiRefused` when the CPI certainly did not run, with the signal's reason when it was
 * aborted before that, and with `CpiLost` in all other cases.
 */
export interface CpiPort {
  /** Name of the CPI in logs: the path of an executable. */
  readonly command: string;
  /** Returns a text that changes when the executable or its configuration is replaced. If missing, they never change. */
  readonly fingerprint?: () => Promise<string>;
  call(request: CpiRequest, options: CpiPortOptions): Promise<CpiResponse>;
}

const INFO_MS = 5 * 60_000;

/** How long a method may take: `info` only answers, and has less. */
export function deadlineFor(method: CpiMethodName, longestMs: number | undefined): number {
  if (method === "info") return Math.min(INFO_MS, longestMs ?? INFO_MS);
  return longestMs ?? methodDeadlineMs(method);
}
