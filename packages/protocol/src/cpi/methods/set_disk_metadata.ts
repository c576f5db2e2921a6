import { diskCid } from "../../ids.ts";
import { arg, method, result } from "../method.ts";
import { metadata, nothing } from "./_common.ts";

export const setDiskMetadata = method({
  name: "set_disk_metadata",
  summary: "Tags the disk.",
  args: [arg("disk_cid", diskCid, "the disk"), arg("metadata", metadata, "names and strings")],
  results: [result(nothing, "ignored")],
  since: 1,
  mandatory: false,
  repeat: "harmless",
  errors: ["DiskNotFound", "CloudError", "NotImplemented"],
  rules: ["Called after every attach."],
});
