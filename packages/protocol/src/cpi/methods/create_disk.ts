import * as v from "valibot";
import { diskCid, vmCid } from "../../ids.ts";
import { integer } from "../../schema/json.ts";
import { cloudProperties } from "../../settings/networks.ts";
import { arg, method, result } from "../method.ts";

export const createDisk = method({
  name: "create_disk",
  summary: "Creates a persistent disk, attached to nothing.",
  args: [
    arg("size", integer(1, "size"), "MiB; rounded up to what the IaaS has"),
    arg("cloud_properties", cloudProperties, "disk type, as the IaaS knows it"),
    arg("vm_cid", v.nullable(vmCid), "VM it will be attached to, for placement; null when unknown"),
  ],
  results: [result(diskCid, "cid")],
  since: 1,
  mandatory: true,
  repeat: "creates",
  errors: ["CloudError", "NoDiskSpace", "VMNotFound"],
  rules: [],
});
