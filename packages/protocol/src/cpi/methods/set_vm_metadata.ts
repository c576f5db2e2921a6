import { vmCid } from "../../ids.ts";
import { arg, method, result } from "../method.ts";
import { metadata, nothing } from "./_common.ts";

export const setVmMetadata = method({
  name: "set_vm_metadata",
  summary: "Tags the VM.",
  args: [arg("vm_cid", vmCid, "the VM"), arg("metadata", metadata, "names and strings")],
  results: [result(nothing, "ignored")],
  since: 1,
  mandatory: false,
  repeat: "harmless",
  errors: ["VMNotFound", "CloudError", "NotImplemented"],
  rules: ["Limits of the IaaS on tags are logged, not raised; every other error destroys the new VM."],
});
