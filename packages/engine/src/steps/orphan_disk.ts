import type { DiskCid } from "@slipway/protocol/ids";
import { recordStep } from "./define.ts";
import { disksToOrphan } from "./select.ts";

/** Out of the instance, into the orphan list. No disk is ever deleted here. */
export const orphanDisk = recordStep<DiskCid>({
  name: "orphan_disk",
  subject: "disk",
  calls: [],
  status: "orphaning old disk",
  loop: true,
  intent: (subject) => disksToOrphan(subject).find((one) => one.attachedTo === null)?.cid,
  record: (disk, writes) => writes.orphanDisk(disk),
  event: (disk) => ({ action: "orphan", objectType: "disk", objectName: disk }),
});
