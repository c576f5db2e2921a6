import { diskCid, snapshotCid } from "../../ids.ts";
import { arg, method, result } from "../method.ts";
import { metadata } from "./_common.ts";

export const snapshotDisk = method({
  name: "snapshot_disk",
  summary: "Takes a snapshot of a disk, attached or not.",
  args: [
    arg("disk_cid", diskCid, "the disk"),
    arg("metadata", metadata, "any of the usual keys may be missing"),
  ],
  results: [result(snapshotCid, "cid")],
  since: 1,
  mandatory: false,
  repeat: "creates",
  errors: ["DiskNotFound", "NotImplemented", "NotSupported", "CloudError"],
  rules: [],
});
