import type { InstanceRun } from "@slipway/engine/flows/run-steps";
import type { InstanceRecord } from "@slipway/engine/model/records";
import type { DiskCid } from "@slipway/protocol/ids";

/** Returns the run for a change of one instance's disk by an operator, outside of a deploy: no wanted disk, no jobs to watch. */
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
