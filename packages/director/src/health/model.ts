import type { WatchedInstance } from "../store/health.ts";

export type Watched = WatchedInstance;

export interface ProcessReport {
  readonly name: string;
  readonly state: string;
}

/** Report of an agent on itself: an answer, or a heartbeat that it sends without being asked. */
export interface AgentReport {
  readonly jobState: string;
  readonly processes: readonly ProcessReport[];
  /** True if its persistent disk is mounted; undefined if the agent has no disk or did not say. */
  readonly mounted: boolean | undefined;
  /** True if the kernel has set the disk to read-only, after an error. */
  readonly readOnly: boolean;
  readonly vitals: Vitals;
}

/** Vitals that the agent reported, in percent except for the load. */
export interface Vitals {
  readonly cpu?: number | undefined;
  /** Average of the last minute. */
  readonly load?: number | undefined;
  readonly memory?: number | undefined;
  readonly swap?: number | undefined;
  readonly disk: Readonly<Partial<Record<"system" | "ephemeral" | "persistent", number>>>;
}

/** Times are milliseconds of `AwakeTime`; `at` is the time of day, for people only. */
export interface Known {
  readonly watchedSince: number;
  readonly watchedAt: number;
  readonly answered?: { readonly awake: number; readonly at: number; readonly report: AgentReport };
  /** Time of the last heartbeat. */
  readonly beat?: number;
  /** True if the heartbeat had news that a question should clear up. */
  readonly news?: boolean;
  /** Time of day at which the agent announced its shutdown; unset once it speaks again. */
  readonly leaves?: number;
  /** Questions in a row that brought no answer, and when the first of them was asked. */
  readonly failed?: {
    readonly awake: number;
    readonly at: number;
    readonly times: number;
    readonly why: string;
  };
  /** Set if the last question was refused: the agent or this Director does not accept the other. */
  readonly refused?: { readonly at: number; readonly why: string };
}

/** The worst comes first. */
export const STATUSES = [
  "unresponsive",
  "no_vm",
  "refused",
  "disk_not_mounted",
  "disk_read_only",
  "failing",
  "unfinished",
  "unknown",
  "ignored",
  "detached",
  "idle",
  "healthy",
] as const;
export type Status = (typeof STATUSES)[number];

export interface Finding {
  readonly status: Status;
  /** Text for operators. */
  readonly what: string;
}

export interface Verdict {
  readonly status: Status;
  readonly findings: readonly Finding[];
  /** Time of day, as far as it is known. */
  readonly since: number | undefined;
  /** A new VM is what it needs. */
  readonly toHeal: boolean;
  /** The last question was not answered, or it cannot be heard: it may be about to become unresponsive. */
  readonly suspect: boolean;
}

/** True if the instance is known to be as it should be, with a VM or without one. */
export const isAsWanted = (status: Status): boolean =>
  status === "healthy" || status === "detached" || status === "idle";

/** Reports whether nothing is known to be wrong. */
export const isWell = (status: Status): boolean =>
  isAsWanted(status) || status === "unknown" || status === "ignored";
