import type { Capabilities } from "@slipway/protocol/cpi/capabilities";
import { infoResult } from "@slipway/protocol/cpi/methods/info";
import { check } from "@slipway/protocol/schema/check";
import { type CallOptions, CpiLost, refusedAs } from "./cloud.ts";
import { CpiAnswerUnusable } from "./errors.ts";

/** Data that a CPI reported about itself. */
export interface Introduced {
  /** Version as the CPI reported it; undefined means 1. */
  readonly apiVersion: number | undefined;
  readonly stemcellFormats: readonly string[] | undefined;
  readonly capabilities: Capabilities;
}

export interface Waiter {
  readonly signal?: AbortSignal | undefined;
  readonly log?: ((text: string) => void) | undefined;
  readonly record?: CallOptions["record"];
}

/** A CPI of before `info`, as Directors took it until version 1 was given up. */
const OLD: Introduced = { apiVersion: undefined, stemcellFormats: undefined, capabilities: {} };

export function readInfo(value: unknown, cpi: string): Introduced {
  const given: unknown = typeof value === "object" && value !== null ? withDefaults(value) : value;
  const checked = check(infoResult, given, "info result");
  if (!checked.ok) {
    throw new CpiLost("info", `invalid info response of the CPI ${cpi}: ${checked.problems.join("; ")}`, {
      cause: CpiAnswerUnusable({ cpi, method: "info" }),
    });
  }
  const { api_version, capabilities } = checked.value;
  const formats = (value as { readonly stemcell_formats?: readonly string[] | null }).stemcell_formats;
  return { apiVersion: api_version, stemcellFormats: formats ?? undefined, capabilities: capabilities ?? {} };
}

/** Null means missing, and formats may be missing: upstream then takes any. */
function withDefaults(value: object): object {
  const given = Object.entries(value).filter(([, inner]) => inner !== null);
  return { stemcell_formats: [], ...Object.fromEntries(given) };
}

interface Asking {
  readonly of: string;
  readonly answer: Promise<Introduced>;
  readonly stop: AbortController;
  waiting: number;
}

/**
 * Asks for `info` once and remembers the answer until the CPI changes or `forget` is called; a failure is not remembered. The
 * call is canceled when its last waiter cancels.
 */
export class InfoOnce {
  readonly #ask: (waiter: Waiter) => Promise<Introduced>;
  readonly #fingerprint: (() => Promise<string>) | undefined;
  #known: { readonly of: string; readonly said: Introduced } | undefined;
  #asking: Asking | undefined;

  constructor(ask: (waiter: Waiter) => Promise<Introduced>, fingerprint?: () => Promise<string>) {
    this.#ask = ask;
    this.#fingerprint = fingerprint;
  }

  /** Asks again next time: the program may start another one, whose version changes without a trace. */
  forget(): void {
    this.#known = undefined;
  }

  async get(waiter: Waiter): Promise<Introduced> {
    waiter.signal?.throwIfAborted();
    const now = this.#fingerprint === undefined ? "" : await this.#fingerprint();
    waiter.signal?.throwIfAborted();
    if (this.#known?.of === now) return this.#known.said;
    const asking = this.#asking?.of === now ? this.#asking : this.#start(now, waiter);
    asking.waiting += 1;
    let onAbort = () => {};
    const left = new Promise<never>((_, reject) => {
      onAbort = () => reject(waiter.signal?.reason as Error);
      waiter.signal?.addEventListener("abort", onAbort, { once: true });
    });
    try {
      return await Promise.race([asking.answer, left]);
    } finally {
      waiter.signal?.removeEventListener("abort", onAbort);
      asking.waiting -= 1;
      if (asking.waiting === 0) this.#end(asking, waiter.signal?.reason);
    }
  }

  #end(asking: Asking, reason: unknown): void {
    if (this.#asking === asking) this.#asking = undefined;
    asking.stop.abort(reason);
  }

  #start(of: string, { log, record }: Waiter): Asking {
    const stop = new AbortController();
    const answer = this.#ask({ signal: stop.signal, log, record })
      .catch((error: unknown) => {
        if (refusedAs(error, "NotImplemented")) return OLD;
        throw error;
      })
      .then((said) => {
        this.#known = { of, said };
        return said;
      });
    // Every waiter may be gone when this fails.
    answer.catch(() => undefined);
    this.#asking = { of, answer, stop, waiting: 0 };
    return this.#asking;
  }
}
