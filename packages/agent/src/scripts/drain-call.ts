import type { ApplySpec } from "@slipway/protocol/agent/apply-spec";
import { jobsOf } from "./job-script.ts";

/** How a drain script is called. */
export interface DrainCall {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export type DrainType = "update" | "shutdown";

/** The first call: what is about to change, in upstream's words. */
export function firstDrain(
  type: DrainType,
  now: ApplySpec | undefined,
  next: ApplySpec | undefined,
): DrainCall {
  const env = {
    BOSH_JOB_STATE: stateOf(now),
    ...(next !== undefined && { BOSH_JOB_NEXT_STATE: stateOf(next) }),
  };
  if (type === "shutdown") return { args: ["job_shutdown", "hash_unchanged"], env };
  const job = jobsOf(now).length > 0 ? "job_changed" : "job_new";
  return { args: [job, hashChange(now, next), ...changedPackages(now, next)], env };
}

/** Every further call, after the script has asked for it with a negative number. */
export const nextDrain = (now: ApplySpec | undefined): DrainCall => ({
  args: ["job_check_status", "hash_unchanged"],
  env: { BOSH_JOB_STATE: stateOf(now) },
});

const stateOf = (spec: ApplySpec | undefined): string =>
  JSON.stringify({ persistent_disk: spec?.persistent_disk ?? 0 });

function hashChange(now: ApplySpec | undefined, next: ApplySpec | undefined): string {
  if (!now?.configuration_hash) return "hash_new";
  return now.configuration_hash === (next?.configuration_hash ?? "") ? "hash_unchanged" : "hash_changed";
}

/** Packages that are new, or have another digest than the ones that run. */
function changedPackages(now: ApplySpec | undefined, next: ApplySpec | undefined): readonly string[] {
  const before = now?.packages ?? {};
  return Object.entries(next?.packages ?? {})
    .filter(([name, one]) => !Object.hasOwn(before, name) || before[name]?.sha1 !== one.sha1)
    .map(([name]) => name)
    .sort();
}

/** Seconds to wait, and whether to ask again after them; undefined when it is no signed integer. */
export function drainAnswer(
  stdout: string,
): { readonly seconds: number; readonly again: boolean } | undefined {
  const text = stdout.trim();
  const seconds = Number(text);
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(seconds)) return undefined;
  return { seconds: Math.abs(seconds), again: seconds < 0 };
}
