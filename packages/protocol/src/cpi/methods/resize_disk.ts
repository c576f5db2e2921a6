import { diskCid } from "../../ids.ts";
import { integer } from "../../schema/json.ts";
import { arg, method, result } from "../method.ts";
import { nothing } from "./_common.ts";

export const resizeDisk = method({
  name: "resize_disk",
  summary: "Makes a detached disk larger.",
  args: [arg("disk_cid", diskCid, "the disk"), arg("new_size", integer(1, "new_size"), "MiB")],
  results: [result(nothing, "ignored")],
  since: 1,
  mandatory: false,
  repeat: "harmless",
  errors: ["DiskNotFound", "NotSupported", "NotImplemented", "NoDiskSpace", "CloudError"],
  rules: ["The same size is a success, a smaller one NotSupported."],
});
