import * as v from "valibot";
import { diskCid, vmCid } from "../../ids.ts";
import { arg, method, result } from "../method.ts";

export const getDisks = method({
  name: "get_disks",
  summary: "The disks attached to a VM.",
  args: [arg("vm_cid", vmCid, "the VM")],
  results: [result(v.array(diskCid), "cids; `[]` when there are none")],
  since: 1,
  mandatory: false,
  repeat: "harmless",
  errors: ["VMNotFound", "CloudError", "NotImplemented"],
  rules: [],
});
