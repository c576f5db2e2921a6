import * as v from "valibot";
import { jsonObject, mapOf, open } from "../schema/json.ts";
import { doc, hidden } from "../schema/marks.ts";

export const cloudProperties = hidden(jsonObject());

const route = open({ Destination: v.string(), Gateway: v.string(), Netmask: v.string() });

/** One network of a VM, as `create_vm` takes it and the agent's settings hold it. */
export const network = open({
  type: v.optional(
    doc(
      v.picklist(["manual", "dynamic", "vip"]),
      "`vip` is never configured inside the VM; absent means manual",
    ),
  ),
  ip: v.optional(doc(v.string(), "address; for dynamic networks unknown until the VM runs")),
  netmask: v.optional(v.string()),
  gateway: v.optional(v.string()),
  prefix: v.optional(doc(v.string(), "prefix length of the address, as a string; recent Directors only")),
  dns: v.optional(v.nullable(v.array(v.string()))),
  default: v.optional(
    doc(v.nullable(v.array(v.string())), "what this network is the default for: `dns`, `gateway`"),
  ),
  mac: v.optional(doc(v.string(), "pairs the network with a NIC when there are several")),
  use_dhcp: v.optional(v.boolean()),
  preconfigured: v.optional(doc(v.boolean(), "the IaaS has set up the interface; only DNS is written")),
  resolved: v.optional(v.boolean()),
  routes: v.optional(v.nullable(v.array(route))),
  alias: v.optional(v.string()),
  nic_group: v.optional(v.string()),
  cloud_properties: v.optional(v.nullable(cloudProperties)),
});

export const networks = mapOf(network);
export type Network = v.InferOutput<typeof network>;
export type Networks = Readonly<Record<string, Network>>;

/** Addressed by DHCP: told so, once resolved by it, or not to be configured otherwise. Never a vip. */
export const usesDhcp = (network: Network): boolean =>
  network.type !== "vip" &&
  (network.type === "dynamic" ||
    network.use_dhcp === true ||
    network.resolved === true ||
    !network.ip ||
    !network.netmask);
