import type { Clock } from "@slipway/kernel/clock";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { NEVER, parseSchedule } from "@slipway/protocol/director/schedule";
import { listOrphanDisks } from "../store/disks.ts";
import { listNetworks } from "../store/networks.ts";
import { listOrphanedVms } from "../store/orphaned-vms.ts";
import { unseenSinceRestore } from "../store/restores.ts";
import type { Db } from "../store/schema.ts";
import { deploymentsWithDisks } from "../store/snapshots.ts";
import type { NewTask } from "../tasks/task.ts";
import type { ScheduledJob } from "./scheduler.ts";

const DAY_MS = 86_400_000;
const taskOf = (type: NewTask["type"], description: string, params: NewTask["params"] = {}): NewTask => ({
  type,
  description,
  user: "scheduler",
  params,
});

/** Reports whether orphans may be in use: after a restore, one may have a place again that the backup does not know. */
const mayBeInUse = async (db: Db): Promise<boolean> => (await unseenSinceRestore(db)).length > 0;

/** Returns the jobs that the Director runs by schedule, with upstream's schedules by default. */
export function scheduledJobs(
  limits: NonNullable<DirectorConfig["director"]>,
  clock: Pick<Clock, "now">,
): readonly ScheduledJob[] {
  const days = limits.orphan_disk_days ?? 5;
  const jobs: readonly (Omit<ScheduledJob, "schedule"> & { readonly off?: boolean })[] = [
    {
      name: "snapshot_deployments",
      text: limits.snapshot_schedule ?? "0 7 * * *",
      off: limits.enable_snapshots !== true,
      task: async (db) =>
        (await deploymentsWithDisks(db)).length === 0
          ? undefined
          : taskOf("snapshot_deployments", "snapshot deployments"),
    },
    {
      name: "delete_orphaned_vms",
      text: limits.orphaned_vm_schedule ?? "*/5 * * * *",
      task: async (db) =>
        (await listOrphanedVms(db)).length === 0 || (await mayBeInUse(db))
          ? undefined
          : taskOf("delete_orphaned_vms", "delete orphaned vms"),
    },
    {
      name: "scheduled_orphaned_disk_cleanup",
      text: limits.orphan_disk_schedule ?? "0,30 * * * *",
      task: async (db) =>
        (await listOrphanDisks(db, clock.now() - days * DAY_MS)).length === 0 || (await mayBeInUse(db))
          ? undefined
          : taskOf("scheduled_orphaned_disk_cleanup", "clean up orphan disks", {
              max_orphaned_age_in_days: days,
            }),
    },
    {
      name: "delete_orphan_networks",
      text: limits.orphan_network_schedule ?? "0,30 * * * *",
      task: async (db) => {
        const before = clock.now() - (limits.orphan_network_days ?? 1) * DAY_MS;
        const names = (await listNetworks(db))
          .filter(({ orphanedAt }) => orphanedAt !== null && orphanedAt < before)
          .map(({ name }) => name);
        if (names.length === 0 || (await mayBeInUse(db))) return undefined;
        return taskOf("delete_orphan_networks", "clean up networks", { names });
      },
    },
  ];
  return jobs.flatMap(({ off = false, ...job }) => {
    const parsed = parseSchedule(job.text);
    if (off || job.text === NEVER) return [];
    // The configuration was checked by the same reading.
    if (!parsed.ok) throw new Error(`bug: schedule ${job.text}: ${parsed.problem}`);
    return [{ ...job, schedule: parsed.schedule }];
  });
}
