import { refusedAs } from "@slipway/engine/clouds/cloud";
import { causeOf } from "@slipway/engine/flows/errors";
import { runOther } from "@slipway/engine/flows/run-steps";
import { display } from "@slipway/engine/model/names";
import { activeDisks, type DiskRecord, type InstanceRecord } from "@slipway/engine/model/records";
import { aboutInstance, type FlowContext } from "@slipway/engine/steps/context";
import { snapshotsOfDisk } from "../../store/snapshots.ts";
import type { Stage, TaskContext } from "../../tasks/task.ts";
import type { OperationContext } from "../operation.ts";

/** Reports whether snapshots are enabled. As upstream, a disabled Director or an incapable CPI is no failure. */
export function maySnapshot(task: TaskContext, { options }: OperationContext): boolean {
  if (options.enableSnapshots === true) return true;
  task.warn("snapshots are disabled: none is taken; `director.enable_snapshots` enables them");
  return false;
}

/** Takes snapshots of the disks of one instance and returns their cids. A resumed task takes none a second time. */
export async function takeSnapshots(
  instance: InstanceRecord,
  stage: Stage,
  context: FlowContext,
  task: TaskContext,
  { db }: OperationContext,
): Promise<readonly string[]> {
  const takenOf = async (disk: DiskRecord) =>
    (await snapshotsOfDisk(db, disk.cid)).flatMap(({ cid, taskId }) => (taskId === task.id ? [cid] : []));
  const disks = activeDisks(instance);
  const before = await Promise.all(disks.map(takenOf));
  const missing = disks.filter((_, at) => before[at]?.length === 0);
  if (missing.length > 0)
    await stage.step(display(instance), async () => {
      try {
        for (const disk of missing)
          await runOther("snapshot_disk", { instance, disk, clean: false }, aboutInstance(context, instance));
      } catch (error) {
        if (!refusedAs(causeOf(error), "NotImplemented", "NotSupported")) throw error;
        task.warn(`the CPI takes no snapshots: none of ${display(instance)}`);
      }
    });
  return (await Promise.all(disks.map(takenOf))).flat();
}
