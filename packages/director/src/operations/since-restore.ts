import type { TaskType } from "@slipway/protocol/director/task";
import { unseenSinceRestore } from "../store/restores.ts";
import type { Db } from "../store/schema.ts";
import type { TaskContext } from "../tasks/task.ts";
import { NotSeenSinceRestore } from "./errors.ts";

/** Tasks that act on the records of their deployment. */
const OF_DEPLOYMENT: readonly TaskType[] = [
  ...(["update_deployment", "delete_deployment", "update_instance", "attach_disk", "orphan_disk"] as const),
  ...(["run_errand", "cck_scan_and_fix", "create_snapshot", "snapshot_deployment"] as const),
  ...(["delete_snapshot", "delete_deployment_snapshots"] as const),
];
/** Tasks that delete what is unused by the records. Any deployment may have come to use it. */
const OF_ALL: readonly TaskType[] = [
  ...(["delete_orphan_disks", "delete_orphaned_vms", "delete_artifacts"] as const),
];

/**
 * Throws unless the cloud was looked at since a restore, after which the records are older than the clouds. What would act on
 * them waits until `cloud-check` has looked at the deployment: another life of this Director may have moved its disks to VMs that
 * no record names.
 */
export async function mustBeSeen(task: Pick<TaskContext, "type" | "deployment">, db: Db): Promise<void> {
  const all = OF_ALL.includes(task.type);
  if (!all && !OF_DEPLOYMENT.includes(task.type)) return;
  const unseen = (await unseenSinceRestore(db)).filter(
    ({ deployment }) => all || deployment === task.deployment,
  );
  const [first] = unseen;
  if (first === undefined) return;
  throw NotSeenSinceRestore({
    deployments: unseen.map(({ deployment }) => deployment),
    deployment: first.deployment,
    takenAt: new Date(first.takenAt).toISOString(),
  });
}
