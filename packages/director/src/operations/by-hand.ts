import type { Journey } from "@slipway/engine/flows/run-steps";
import type { InstanceRecord } from "@slipway/engine/model/records";

/** What an operator does to the disk of one instance, outside of a deploy: no wish for a disk, no jobs to watch. */
export const diskByHand = (instance: InstanceRecord, reason: string): Journey => ({
  uuid: instance.uuid,
  plan: {
    action: "update",
    changes: [{ kind: "persistent_disk", reason }],
    steps: [],
    desired: undefined,
    recorded: instance,
    unresponsive: false,
    skipDrain: false,
    downtime: undefined,
  },
  watchMs: [0, 0],
});
