import { type Fields, MISSING, required, WRONG_TYPE } from "../documents/fields.ts";
import { kindOf, own } from "../documents/tree.ts";
import type { Amount, UpdatePolicy } from "./model.ts";

type Said<T> = { readonly [K in keyof T]: T[K] | undefined };

const INVALID_WATCH_TIME = 180001;
const NEEDED = ["canaries", "max_in_flight", "canary_watch_time", "update_watch_time"] as const;

/** Reads a section `update`; undefined for values that are absent or wrong. */
export function readUpdate(fields: Fields): Said<UpdatePolicy> {
  return {
    canaries: readAmount(fields, "canaries"),
    maxInFlight: readAmount(fields, "max_in_flight"),
    canaryWatchMs: readWatch(fields, "canary_watch_time"),
    updateWatchMs: readWatch(fields, "update_watch_time"),
    serial: fields.flag("serial"),
    vmStrategy: fields.oneOf("vm_strategy", ["delete-create", "create-swap-delete"]),
    initialDeployAzStrategy: fields.oneOf("initial_deploy_az_update_strategy", ["serial", "parallel"]),
  };
}

/** The deployment's own section: four keys are required. */
export function readDeploymentUpdate(fields: Fields, vmStrategy: UpdatePolicy["vmStrategy"]): UpdatePolicy {
  for (const key of NEEDED) {
    if (!fields.has(key)) {
      fields.wrong(MISSING, key, required(key), EXAMPLES[key]);
    }
  }
  return overlay({ ...FALLBACK, vmStrategy }, readUpdate(fields));
}

/** Values for missing keys. Required keys get them only beside a reported problem. */
export const FALLBACK: UpdatePolicy = {
  canaries: { count: 1 },
  maxInFlight: { count: 1 },
  canaryWatchMs: [0, 0],
  updateWatchMs: [0, 0],
  serial: true,
  vmStrategy: "delete-create",
  initialDeployAzStrategy: "serial",
};

export const overlay = (base: UpdatePolicy, over: Said<UpdatePolicy>): UpdatePolicy => ({
  canaries: over.canaries ?? base.canaries,
  maxInFlight: over.maxInFlight ?? base.maxInFlight,
  canaryWatchMs: over.canaryWatchMs ?? base.canaryWatchMs,
  updateWatchMs: over.updateWatchMs ?? base.updateWatchMs,
  serial: over.serial ?? base.serial,
  vmStrategy: over.vmStrategy ?? base.vmStrategy,
  initialDeployAzStrategy: over.initialDeployAzStrategy ?? base.initialDeployAzStrategy,
});

const EXAMPLES = {
  canaries: "Write a number or a share, such as 1 or 10%.",
  max_in_flight: "Write a number or a share, such as 1 or 10%.",
  canary_watch_time: "Write milliseconds, such as 30000 or 1000-60000.",
  update_watch_time: "Write milliseconds, such as 30000 or 1000-60000.",
} as const;

/** `3`, `"3"` or `"25%"`; also what `--canaries` and `--max-in-flight` may be. */
export function parseAmount(value: unknown): Amount | undefined {
  if (typeof value === "number") {
    return Number.isSafeInteger(value) && value >= 0 ? { count: value } : undefined;
  }
  const found = typeof value === "string" ? /^([0-9]{1,9})(?:\s*(%))?$/.exec(value.trim()) : null;
  if (found === null) return undefined;
  return found[2] === "%" ? { percent: Number(found[1]) } : { count: Number(found[1]) };
}

function readAmount(fields: Fields, key: "canaries" | "max_in_flight"): Amount | undefined {
  if (!fields.has(key)) return undefined;
  const value = own(fields.map, key);
  const amount = parseAmount(value);
  if (amount === undefined) {
    fields.wrong(
      WRONG_TYPE,
      key,
      `expected a whole number or a share in percent, found ${kindOf(value)}`,
      EXAMPLES[key],
    );
  }
  return amount;
}

function readWatch(
  fields: Fields,
  key: "canary_watch_time" | "update_watch_time",
): readonly [number, number] | undefined {
  if (!fields.has(key)) return undefined;
  const value = own(fields.map, key);
  const range = parseWatch(value);
  if (range === undefined) {
    const found = typeof value === "string" || typeof value === "number" ? "this is neither" : kindOf(value);
    fields.wrong(
      INVALID_WATCH_TIME,
      key,
      isReversed(value)
        ? "Min watch time cannot be greater than max watch time"
        : `Watch time should be an integer or a range of two integers, found: ${found}`,
      EXAMPLES[key],
    );
  }
  return range;
}

const isReversed = (value: unknown): boolean =>
  typeof value === "string" && /^\s*[0-9]{1,12}\s*-\s*[0-9]{1,12}\s*$/.test(value);

function parseWatch(value: unknown): readonly [number, number] | undefined {
  const text = typeof value === "number" ? String(value) : value;
  const found = typeof text === "string" ? /^\s*([0-9]{1,12})\s*(?:-\s*([0-9]{1,12})\s*)?$/.exec(text) : null;
  if (found === null) return undefined;
  const low = Number(found[1]);
  const high = Number(found[2] ?? found[1]);
  return low <= high ? [low, high] : undefined;
}
