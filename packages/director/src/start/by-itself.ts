import type { FileBlobs } from "@slipway/engine/blobs/directory-blobs";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { scheduledJobs } from "../schedule/jobs.ts";
import { Scheduler } from "../schedule/scheduler.ts";
import { NamesKeeper, type NamesKeeperOptions } from "./names-keeper.ts";
import { retain } from "./retention.ts";
import { Upkeep, type UpkeepOptions } from "./upkeep.ts";

type Parts = Omit<UpkeepOptions, "retain" | "agents"> &
  Pick<NamesKeeperOptions, "dns"> & {
    readonly agents: UpkeepOptions["agents"] & NamesKeeperOptions["agents"];
    readonly blobs: FileBlobs;
    readonly limits: NonNullable<DirectorConfig["director"]>;
    /** Called after a task was queued by schedule. */
    readonly wake: () => void;
    readonly atClose: (close: () => Promise<void> | void) => void;
  };

/** Starts the background jobs of the Director, except health: upkeep, schedules, names. */
export function startByItself({ blobs, limits, wake, atClose, ...parts }: Parts): void {
  const { db, clock, agents, dns, onError } = parts;
  const upkeep = new Upkeep({ ...parts, retain: () => retain({ db, blobs, limits, now: clock.now() }) });
  upkeep.start();
  atClose(() => upkeep.stop());
  const scheduler = new Scheduler({ db, clock, jobs: scheduledJobs(limits, clock), wake, onError });
  scheduler.start();
  atClose(() => scheduler.stop());
  if (!dns.enabled) return;
  const keeper = new NamesKeeper({ db, agents, dns, clock, onError });
  keeper.start();
  atClose(() => keeper.stop());
}
