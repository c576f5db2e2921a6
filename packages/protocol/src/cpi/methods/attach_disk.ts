import { diskCid, vmCid } from "../../ids.ts";
import { diskHintWire } from "../../settings/disk-hint.ts";
import { arg, method, result } from "../method.ts";
import { nothing } from "./_common.ts";

export const attachDisk = method({
  name: "attach_disk",
  summary: "Attaches a disk to a VM and says how its agent finds it.",
  args: [arg("vm_cid", vmCid, "the VM"), arg("disk_cid", diskCid, "the disk")],
  results: [
    result(nothing, "ignored; the registry entry carries the hint"),
    result(diskHintWire, "disk hint: a non-empty string or object", 2),
  ],
  since: 1,
  mandatory: true,
  repeat: "harmless",
  errors: ["VMNotFound", "DiskNotFound", "CloudError"],
  rules: [
    "Already attached to the same VM: the same hint again.",
    "Outside registry-less operation `disks.persistent[cid]` in the registry is set as well.",
  ],
});
