import * as v from "valibot";
import { vmCid } from "../../ids.ts";
import { arg, method, result } from "../method.ts";

export const hasVm = method({
  name: "has_vm",
  summary: "Whether the VM exists.",
  args: [arg("vm_cid", vmCid, "any cid")],
  results: [result(v.boolean(), "false for unknown and terminated VMs")],
  since: 1,
  mandatory: true,
  repeat: "harmless",
  errors: ["CloudError"],
  rules: [],
});
