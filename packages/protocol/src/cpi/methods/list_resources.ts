import * as v from "valibot";
import { agentId, diskCid, stemcellCid, vmCid } from "../../ids.ts";
import { jsonObject, open } from "../../schema/json.ts";
import { doc } from "../../schema/marks.ts";
import { networks } from "../../settings/networks.ts";
import { method, result } from "../method.ts";

const vm = open({
  cid: vmCid,
  agent_id: v.optional(doc(agentId, "as create_vm was given it")),
  stemcell_cid: v.optional(doc(stemcellCid, "the stemcell it was made from")),
  networks: v.optional(doc(networks, "as the agent was given them")),
  metadata: doc(jsonObject(), "of the last set_vm_metadata; empty when there was none"),
  disk_cids: doc(v.array(diskCid), "the persistent disks attached to it"),
});

const disk = open({
  cid: diskCid,
  size: v.optional(doc(v.number(), "MiB")),
  metadata: doc(jsonObject(), "of the last set_disk_metadata; empty when there was none"),
});

const resources = open({ vms: v.array(vm), disks: v.array(disk) });
export type ListedResources = v.InferOutput<typeof resources>;
export type ListedVm = ListedResources["vms"][number];
export type ListedDisk = ListedResources["disks"][number];

export const listResources = method({
  name: "list_resources",
  summary: "Every VM and persistent disk that the Director of the call has made through this CPI.",
  args: [],
  results: [result(resources, "`{vms, disks}`, with what the CPI was told of each")],
  since: 1,
  mandatory: false,
  repeat: "harmless",
  errors: ["CloudError", "NotImplemented"],
  rules: [
    "Not of the shipped contract: called only if `info` announces `capabilities.list_resources`, and never by other Directors.",
    "Lists nothing that is half made or being deleted. Where a cloud is shared, only what is known to be another Director's is left out.",
  ],
});
