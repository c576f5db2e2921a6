import * as v from "valibot";
import { diskCid } from "../../ids.ts";
import { arg, method, result } from "../method.ts";

export const hasDisk = method({
  name: "has_disk",
  summary: "Whether the disk exists.",
  args: [arg("disk_cid", diskCid, "any cid")],
  results: [result(v.boolean(), "false for unknown disks")],
  since: 1,
  mandatory: false,
  repeat: "harmless",
  errors: ["CloudError", "NotImplemented"],
  rules: [],
});
