import { diskCid, vmCid } from "../../ids.ts";
import { arg, method, result } from "../method.ts";
import { nothing } from "./_common.ts";

export const detachDisk = method({
  name: "detach_disk",
  summary: "Takes a disk off a VM.",
  args: [arg("vm_cid", vmCid, "the VM"), arg("disk_cid", diskCid, "the disk")],
  results: [result(nothing, "ignored")],
  since: 1,
  mandatory: true,
  repeat: "fails",
  errors: ["DiskNotAttached", "DiskNotFound", "VMNotFound", "CloudError"],
  rules: ["Not attached: DiskNotAttached. Outside registry-less operation the registry key is removed."],
});
