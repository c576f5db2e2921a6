import type { JobStateName } from "../../services.ts";
import type { Service } from "../monit-file/model.ts";
import type { ProcessId } from "./procfs.ts";

/** Desired state of a service: monit's monitored, stopped, unmonitored. */
export type Desired = "run" | "stop" | "none";

/** A start or stop program at work, and until when its outcome is waited for. */
export interface Busy {
  readonly doing: "starting" | "stopping";
  /** Milliseconds since the machine was started, so that it holds for the next process of the agent. */
  readonly since: number;
  readonly until: number;
  readonly program?: ProcessId;
  /** True after the program had its time twice and was asked to end. */
  readonly ended?: boolean;
}

/** One service under watch. */
export interface WatchedService {
  service: Service;
  desired: Desired;
  /**
   * True if the service is to be stopped once before the next start: a dependency was restarted, or a rule asks for it.
   */
  bounce: boolean;
  busy: Busy | undefined;
  process: ProcessId | undefined;
  /** True once the service ran after the request; until then it is starting. */
  confirmed: boolean;
  /** Ends in a row that came soon after the start. */
  failures: number;
  notBefore: number;
  stopFailed: boolean;
  /** Problems of the service, by rule. */
  readonly problems: Map<string, string>;
  /** The cycles in which it was restarted. */
  restarts: number[];
}

export const watched = (service: Service, desired: Desired): WatchedService => ({
  service,
  desired,
  bounce: false,
  busy: undefined,
  process: undefined,
  confirmed: false,
  failures: 0,
  notBefore: 0,
  stopFailed: false,
  problems: new Map(),
  restarts: [],
});

/** Only processes run or do not; anything else under watch is there by itself. */
export const isUp = (one: WatchedService): boolean =>
  one.service.kind !== "process" || one.process !== undefined;

/** Upstream's words. */
export function stateOf(one: WatchedService): JobStateName {
  if (one.desired !== "run" && !(one.desired === "stop" && one.busy !== undefined)) return "unknown";
  if (!one.confirmed && one.problems.size === 0) return "starting";
  return isUp(one) && one.problems.size === 0 ? "running" : "failing";
}

/** Returns the next step for a service. Pure: everything it depends on is passed in. */
export function nextStep(
  one: WatchedService,
  all: ReadonlyMap<string, WatchedService>,
  now: number,
): "start" | "stop" | "wait" {
  if (one.busy !== undefined || one.service.kind !== "process") return "wait";
  if (one.desired === "stop" || one.bounce) {
    if (one.process === undefined || one.stopFailed) return "wait";
    for (const other of all.values()) if (leavesFirst(other, one)) return "wait";
    return "stop";
  }
  if (one.desired !== "run" || one.process !== undefined || one.service.start === undefined) return "wait";
  if (now < one.notBefore) return "wait";
  for (const other of all.values()) if (other.bounce && leavesFirst(other, one)) return "wait";
  for (const { name } of one.service.dependsOn) {
    const needed = all.get(name);
    if (
      needed !== undefined &&
      needed.desired !== "none" &&
      (!isUp(needed) || needed.bounce || needed.busy !== undefined)
    )
      return "wait";
  }
  return "start";
}

/** Returns true if the other service must stop first, because it depends on this one. A failed stop blocks no other. */
const leavesFirst = (other: WatchedService, one: WatchedService): boolean =>
  other !== one &&
  other.service.kind === "process" &&
  !other.stopFailed &&
  (other.desired === "stop" || other.bounce) &&
  (other.process !== undefined || other.busy !== undefined) &&
  other.service.dependsOn.some(({ name }) => name === one.service.name);

const QUICK_MS = 60_000;
const LONGEST_DELAY_MS = 60_000;

/**
 * Delays the next start after an end or a failed start: not the first time, then by a pause that doubles up to a
 * minute.
 */
export function backOff(one: WatchedService, now: number, ranMs: number): void {
  one.failures = ranMs >= QUICK_MS ? 1 : one.failures + 1;
  const delay = one.failures <= 1 ? 0 : Math.min(LONGEST_DELAY_MS, 1000 * 2 ** (one.failures - 2));
  one.notBefore = now + delay;
}
