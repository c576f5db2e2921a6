import * as v from "valibot";
import { agentId, diskCid, stemcellCid, vmCid } from "../../ids.ts";
import { env } from "../../settings/env.ts";
import { cloudProperties, networks } from "../../settings/networks.ts";
import { arg, method, result } from "../method.ts";

export const createVm = method({
  name: "create_vm",
  summary: "Creates and powers on a VM whose agent finds its settings.",
  args: [
    arg("agent_id", agentId, "id of the agent inside"),
    arg("stemcell_cid", stemcellCid, "image to start from"),
    arg("cloud_properties", cloudProperties, "VM type, as the IaaS knows it"),
    arg("networks", networks, "name to network"),
    arg("disk_cids", v.nullable(v.array(diskCid)), "disks that will be attached later: for placement only"),
    arg("env", v.nullable(env), "passed untouched into the agent settings"),
  ],
  results: [result(vmCid, "cid"), result(v.strictTuple([vmCid, networks]), "`[cid, networks]`", 2)],
  since: 1,
  mandatory: true,
  repeat: "creates",
  errors: ["VMCreationFailed", "CloudError", "NoDiskSpace", "StemcellNotFound"],
  rules: [
    "Does not wait for the agent and attaches no persistent disk.",
    "On failure everything created is removed before the error is returned.",
    "From version 2 the result is an array; a bare string there becomes a one-letter cid in the Ruby Director.",
    "Registry-less when `api_version` >= 2 and `context.vm.stemcell.api_version` >= 2; otherwise the registry entry is written.",
  ],
});
