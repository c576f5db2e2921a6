import type { Heard } from "./agent-news.ts";
import type { Known, Verdict, Watched } from "./model.ts";
import type { Action } from "./resurrect.ts";
import type { HealthSettings } from "./settings.ts";
import type { UpkeepNote } from "./upkeep.ts";

/** The fleet as the last round has found it. Times are of day. */
export interface HealthSnapshot {
  readonly startedAt: number;
  readonly at: number;
  readonly settings: HealthSettings;
  /** `update-resurrection off`. */
  readonly paused: boolean;
  /** Reason why no VM is replaced, in any deployment. */
  readonly held: string | undefined;
  /** Reason why no VM is replaced, by deployment. */
  readonly meltdowns: ReadonlyMap<string, string>;
  /** Instances for which a new VM was asked since the start. */
  readonly resurrections: number;
  readonly upkeep: readonly UpkeepNote[];
  /** Messages from agents on NATS since the start; undefined if this Director has no NATS. */
  readonly heard: { readonly connected: boolean; readonly messages: Heard } | undefined;
  readonly instances: readonly InstanceHealth[];
}

export interface InstanceHealth {
  readonly watched: Watched;
  readonly verdict: Verdict;
  readonly since: number | undefined;
  readonly known: Known | undefined;
  readonly action: Action | undefined;
}
