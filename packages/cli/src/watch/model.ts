/** Levels of health, for sorting and colors. The worst comes first. */
export const LEVELS = ["bad", "busy", "quiet", "well"] as const;
export type HealthLevel = (typeof LEVELS)[number];

export interface WatchedInstance {
  /** Permanent key of an instance: deployment, group and id. */
  readonly key: string;
  readonly deployment: string;
  readonly group: string;
  readonly index: number;
  readonly id: string;
  readonly az: string;
  readonly ips: readonly string[];
  readonly vm: string;
  /** For people: `running`, `failing`, `no vm`. */
  readonly state: string;
  readonly level: HealthLevel;
  /** Since when it is as it is, where that is known. Milliseconds since 1970. */
  readonly since: number | undefined;
  readonly problems: readonly string[];
  /** Current action of the Director, or why there is none. */
  readonly action: string;
  readonly processes: readonly { readonly name: string; readonly state: string }[];
  readonly vitals: WatchedVitals;
}

/** Vitals that the agent reported, in percent except for the load. */
export interface WatchedVitals {
  readonly cpu?: number | undefined;
  readonly load?: number | undefined;
  readonly memory?: number | undefined;
  /** The fullest of its disks. */
  readonly disk?: number | undefined;
}

export interface WatchedTask {
  readonly id: number;
  readonly state: string;
  readonly description: string;
  readonly deployment: string;
  readonly user: string;
  /** Milliseconds since 1970. */
  readonly began: number | undefined;
  /** When it was seen to have ended. */
  readonly ended: number | undefined;
  /** Reason of a failed task. */
  readonly result: string;
  readonly progress: ProgressOfTask | undefined;
}

/** Progress of a task. */
export interface ProgressOfTask {
  readonly stage: string;
  readonly done: number;
  readonly total: number;
  /** Steps that are under way, the oldest first. */
  readonly steps: readonly string[];
}

export interface WatchedEvent {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number | undefined;
  readonly text: string;
  readonly failed: boolean;
  readonly deployment: string;
  readonly task: string;
}

/** State of a Director at one moment. */
export interface DirectorState {
  /** When it was read: milliseconds since 1970. */
  readonly at: number;
  readonly url: string;
  /** The one that is watched; undefined: all. */
  readonly deployment: string | undefined;
  /** Existing deployments among those watched; empty if it was deleted, or there are no deployments. */
  readonly deployments: readonly string[];
  /** Says why health is unknown, or why VMs are not replaced. */
  readonly note: string;
  readonly instances: readonly WatchedInstance[];
  /** Running and queued tasks, and those that ended a moment ago. */
  readonly tasks: readonly WatchedTask[];
  /** The newest first. */
  readonly events: readonly WatchedEvent[];
  /** The Director does not answer: why, and since when. What else is here is as it was before. */
  readonly trouble: { readonly why: string; readonly since: number } | undefined;
}

/** `web/1`: short, and every command takes it. */
export const nameOf = ({ group, index }: Pick<WatchedInstance, "group" | "index">): string =>
  `${group}/${index}`;
