import { vmCid } from "../../ids.ts";
import { arg, method, result } from "../method.ts";
import { nothing } from "./_common.ts";

export const rebootVm = method({
  name: "reboot_vm",
  summary: "Restarts a VM that may be on or off, without waiting for it.",
  args: [arg("vm_cid", vmCid, "the VM")],
  results: [result(nothing, "ignored")],
  since: 1,
  mandatory: false,
  repeat: "harmless",
  errors: ["VMNotFound", "CloudError", "NotImplemented"],
  rules: ["Called by cloud-check only."],
});
