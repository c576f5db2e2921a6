import { vmCid } from "../../ids.ts";
import { method, result } from "../method.ts";

export const currentVmId = method({
  name: "current_vm_id",
  summary: "The VM the CPI runs on. Deprecated; only for snapshots of the Director itself.",
  args: [],
  results: [result(vmCid, "cid")],
  since: 1,
  mandatory: false,
  repeat: "harmless",
  errors: ["NotImplemented"],
  rules: [],
});
