import { snapshotCid } from "../../ids.ts";
import { arg, method, result } from "../method.ts";
import { nothing } from "./_common.ts";

export const deleteSnapshot = method({
  name: "delete_snapshot",
  summary: "Removes a snapshot.",
  args: [arg("snapshot_cid", snapshotCid, "the snapshot")],
  results: [result(nothing, "ignored")],
  since: 1,
  mandatory: false,
  repeat: "harmless",
  errors: ["NotImplemented", "CloudError"],
  rules: ["A snapshot that is gone is a success."],
});
