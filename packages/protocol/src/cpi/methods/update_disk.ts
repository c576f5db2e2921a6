import * as v from "valibot";
import { diskCid } from "../../ids.ts";
import { integer } from "../../schema/json.ts";
import { cloudProperties } from "../../settings/networks.ts";
import { arg, method, result } from "../method.ts";

export const updateDisk = method({
  name: "update_disk",
  summary: "Changes size and type of a detached disk in place.",
  args: [
    arg("disk_cid", diskCid, "the disk"),
    arg("new_size", integer(1, "new_size"), "MiB"),
    arg("cloud_properties", cloudProperties, "new disk type"),
  ],
  results: [result(v.nullish(diskCid), "null or the same cid: in place; another cid replaces the old one")],
  since: 1,
  mandatory: false,
  repeat: "harmless",
  errors: ["DiskNotFound", "NotSupported", "NotImplemented", "NoDiskSpace", "CloudError"],
  rules: ["Directors do not gate it by version; the Go SDK refuses it below 2, we do not."],
});
