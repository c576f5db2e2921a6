import * as v from "valibot";
import { integer, jsonObject, open } from "../schema/json.ts";
import { doc, hidden } from "../schema/marks.ts";
import { name, names, properties, ranges, vmResources } from "./common.ts";

const named = open({ name, cloud_properties: properties });

const subnet = open({
  range: v.optional(doc(name, "CIDR; needed in manual networks")),
  gateway: v.optional(doc(name, "needed in manual networks")),
  dns: v.optional(doc(names, "addresses of name servers")),
  az: v.optional(name),
  azs: v.optional(doc(names, "instead of `az`")),
  reserved: v.optional(doc(ranges, "addresses and ranges that nobody gets")),
  static: v.optional(doc(ranges, "addresses and ranges for `static_ips`")),
  cloud_properties: properties,
});

const network = open({
  name,
  type: v.optional(doc(v.picklist(["manual", "dynamic", "vip"]), "default: manual")),
  subnets: v.optional(doc(v.array(subnet), "needed in manual networks")),
  dns: v.optional(doc(v.unknown(), "of dynamic networks without subnets")),
  cloud_properties: properties,
});

const compilation = open({
  workers: doc(integer(1, "workers"), "VMs that compile at once"),
  reuse_compilation_vms: v.optional(v.boolean()),
  orphan_workers: v.optional(v.boolean()),
  network: doc(name, "on which they are"),
  az: v.optional(name),
  vm_type: v.optional(doc(name, "or `vm_resources`, or `cloud_properties`")),
  vm_resources: v.optional(vmResources),
  vm_extensions: v.optional(names),
  cloud_properties: properties,
  env: v.optional(hidden(jsonObject())),
});

/**
 * The shape of a cloud config: which keys there are, and their types. What has to fit together is for the Director's
 * parser (`engine/manifest`) to say, with places and upstream's numbers. Several configs are laid one over the other, so
 * none of the sections is needed in each.
 */
export const cloudConfig = open({
  azs: v.optional(
    v.array(
      open({
        name,
        cpi: v.optional(doc(name, "of a CPI config")),
        cloud_properties: properties,
      }),
    ),
  ),
  vm_types: v.optional(v.array(named)),
  vm_extensions: v.optional(v.array(named)),
  disk_types: v.optional(
    v.array(open({ name, disk_size: doc(v.number(), "in MB"), cloud_properties: properties })),
  ),
  networks: v.optional(v.array(network)),
  compilation: v.optional(compilation),
});
