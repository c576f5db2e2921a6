import type { InstanceRun } from "@slipway/engine/flows/run-steps";
import type { InstanceRecord } from "@slipway/engine/model/records";
import type { DiskCid } from "@slipway/protocol/ids";

/** What an operator does to the disk of one instance, outside of a deploy: no wish for a disk, no jobs to watch. */
export const diskByHand = (
  instance: InstanceRecord,
  reason: string,
  disksToGo?: readonly DiskCid[],
): InstanceRun => ({
  uuid: instance.uuid,
  goal: {
    action: "update",
    changes: [{ kind: "persistent_disk", reason }],
    desired: undefined,
    recorded: instance,
    unresponsive: false,
    skipDrain: false,
    diskMayBeReplaced: false,
    ...(disksToGo !== undefined && { disksToGo }),
  },
  watchMs: [0, 0],
});
