import { refusedAs } from "@slipway/engine/clouds/cloud";
import { causeOf } from "@slipway/engine/flows/errors";
import { runOther } from "@slipway/engine/flows/run-steps";
import { display } from "@slipway/engine/model/names";
import { activeDisk, type InstanceRecord } from "@slipway/engine/model/records";
import { aboutInstance, type FlowContext } from "@slipway/engine/steps/context";
import { snapshotsOfDisk } from "../../store/snapshots.ts";
import type { Stage, TaskContext } from "../../tasks/task.ts";
import type { OperationContext } from "../operation.ts";

/** As upstream: a Director that is not to take snapshots, or a CPI that cannot, is no failure. */
export function maySnapshot(task: TaskContext, { options }: OperationContext): boolean {
  if (options.enableSnapshots === true) return true;
  task.warn("snapshots are disabled: none is taken; `director.enable_snapshots` enables them");
  return false;
}

/** Of the disk of one instance; the cids. A task that is taken up again takes none a second time. */
export async function takeSnapshots(
  instance: InstanceRecord,
  stage: Stage,
  context: FlowContext,
  task: TaskContext,
  { db }: OperationContext,
): Promise<readonly string[]> {
  const disk = activeDisk(instance);
  if (disk === undefined) return [];
  const taken = async () =>
    (await snapshotsOfDisk(db, disk.cid)).flatMap(({ cid, taskId }) => (taskId === task.id ? [cid] : []));
  const before = await taken();
  if (before.length > 0) return before;
  await stage.step(display(instance), async () => {
    try {
      const subject = { instance, disk, clean: false };
      await runOther("snapshot_disk", subject, aboutInstance(context, instance));
    } catch (error) {
      if (!refusedAs(causeOf(error), "NotImplemented", "NotSupported")) throw error;
      task.warn(`the CPI takes no snapshots: none of ${display(instance)}`);
    }
  });
  return await taken();
}
