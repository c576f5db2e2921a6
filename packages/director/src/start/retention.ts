import type { FileBlobs } from "@slipway/engine/blobs/directory-blobs";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { expireExported } from "../artifacts/exported.ts";
import { findExported } from "../artifacts/find-unused.ts";
import { expireLogs } from "../operations/log-blobs.ts";
import { deleteOldEvents } from "../store/events.ts";
import type { Db } from "../store/schema.ts";
import { deleteOldTasks, dropOldOutputs } from "../tasks/retention.ts";

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
export const mib = (given: number | undefined): number | undefined =>
  given === undefined ? undefined : given * MIB;

/** Deletes what is too old or too much, as the configuration says. Upstream's numbers where it has them. */
export async function retain({
  db,
  blobs,
  limits,
  now,
}: {
  readonly db: Db;
  readonly blobs: FileBlobs;
  readonly limits: NonNullable<DirectorConfig["director"]>;
  readonly now: number;
}): Promise<void> {
  const deployments = limits.tasks_deployments_retention_period?.map(
    ({ deployment_name: name, retention_period: days }) => ({ name, days }),
  );
  const tasks = { perType: limits.keep_tasks ?? 2000, days: limits.tasks_retention_period, deployments };
  await deleteOldTasks(db, tasks, now);
  await dropOldOutputs(db, (limits.all_task_outputs_mib ?? 4096) * MIB);
  await deleteOldEvents(db, limits.keep_events ?? 10_000);
  await expireLogs(blobs, limits.log_days ?? 10, now);
  const days = limits.exported_release_days;
  if (days !== undefined) await expireExported(await findExported({ db, blobs }), blobs, now - days * DAY_MS);
}
