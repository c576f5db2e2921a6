import * as v from "valibot";
import { jsonObject, mapOf, open } from "../schema/json.ts";
import { doc, hidden } from "../schema/marks.ts";

export const cloudProperties = hidden(jsonObject());

const route = open({ Destination: v.string(), Gateway: v.string(), Netmask: v.string() });

/** One network of a VM, as `create_vm` takes it and the agent's settings hold it. Null stands for a missing field. */
export const network = open({
  type: v.nullish(
    doc(
      v.picklist(["", "manual", "dynamic", "vip"]),
      "`vip` is never configured inside the VM; absent or empty means manual",
    ),
  ),
  ip: v.nullish(doc(v.string(), "address; for dynamic networks unknown until the VM runs")),
  netmask: v.nullish(v.string()),
  gateway: v.nullish(v.string()),
  prefix: v.nullish(doc(v.string(), "prefix length of the address, as a string; recent Directors only")),
  dns: v.nullish(v.array(v.string())),
  default: v.nullish(doc(v.array(v.string()), "what this network is the default for: `dns`, `gateway`")),
  mac: v.nullish(doc(v.string(), "pairs the network with a NIC when there are several")),
  use_dhcp: v.nullish(v.boolean()),
  preconfigured: v.nullish(doc(v.boolean(), "the IaaS has set up the interface; only DNS is written")),
  resolved: v.nullish(v.boolean()),
  routes: v.nullish(v.array(route)),
  alias: v.nullish(v.string()),
  nic_group: v.nullish(v.string()),
  cloud_properties: v.nullish(cloudProperties),
});

type NetworkWire = v.InferOutput<typeof network>;
/** A network without nulls: readers of networks from outside check them with `checkWithoutNulls`. */
export type Network = { [K in keyof NetworkWire]: Exclude<NetworkWire[K], null> };
export type Networks = Readonly<Record<string, Network>>;
export const networks = mapOf(network) as unknown as v.GenericSchema<Networks>;

/** True if DHCP gives the address: the network says so, was resolved by it, or lacks an address. Never for a vip. */
export const usesDhcp = (network: Network): boolean =>
  network.type !== "vip" &&
  (network.type === "dynamic" ||
    network.use_dhcp === true ||
    network.resolved === true ||
    !network.ip ||
    !network.netmask);
