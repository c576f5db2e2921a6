import { diskCid } from "../../ids.ts";
import { arg, method, result } from "../method.ts";
import { nothing } from "./_common.ts";

export const deleteDisk = method({
  name: "delete_disk",
  summary: "Removes a detached disk.",
  args: [arg("disk_cid", diskCid, "the disk")],
  results: [result(nothing, "ignored")],
  since: 1,
  mandatory: true,
  repeat: "harmless",
  errors: ["DiskNotFound", "CloudError"],
  rules: ["A disk that is still attached survives: that call is an error."],
});
