import { vmCid } from "../../ids.ts";
import { arg, method, result } from "../method.ts";
import { nothing } from "./_common.ts";

export const deleteVm = method({
  name: "delete_vm",
  summary: "Removes a VM and leaves its persistent disks intact.",
  args: [arg("vm_cid", vmCid, "what create_vm returned")],
  results: [result(nothing, "ignored")],
  since: 1,
  mandatory: true,
  repeat: "harmless",
  errors: ["VMNotFound", "CloudError"],
  rules: [
    "Persistent disks may still be attached: they survive.",
    "Success only if the VM is certainly gone.",
    "Outside registry-less operation the registry entry is deleted after the VM.",
  ],
});
