import { formatAddress, parseAddress } from "@slipway/kernel/ip-address";
import { check } from "@slipway/protocol/schema/check";
import { integer, jsonObject, text } from "@slipway/protocol/schema/json";
import { withoutNulls } from "@slipway/protocol/schema/without-nulls";
import * as v from "valibot";
import { CloudFileInvalid } from "../errors.ts";

const strict = <const E extends v.ObjectEntries>(entries: E) => v.strictObject(entries);
const properties = v.optional(jsonObject());

const network = strict({
  type: v.picklist(["manual", "dynamic"]),
  first_address: v.optional(text("the first address")),
  netmask: v.optional(text("the netmask")),
  gateway: v.optional(text("the gateway")),
  dns: v.optional(v.array(text("a name server"))),
  cloud_properties: properties,
});

const cloudFile = strict({
  stemcell: v.optional(strict({ image: v.optional(text("the image")), cloud_properties: properties })),
  vm: v.optional(strict({ cloud_properties: properties })),
  disk: v.optional(
    strict({ size: v.optional(integer(2, "the size of a disk in MiB")), cloud_properties: properties }),
  ),
  network: v.optional(network),
  arguments: v.optional(v.array(v.string())),
  registry: v.optional(
    v.union([
      v.literal("none"),
      strict({ key: v.optional(text("the key")), host: v.optional(text("the host")) }),
    ]),
  ),
  observe: v.optional(strict({ user_data: v.optional(v.array(text("a word of the command"))) })),
  limits: v.optional(
    strict({
      call_seconds: v.optional(integer(1, "the deadline of a call in seconds")),
      vms_at_once: v.optional(integer(1, "the number of VMs")),
      disks_at_once: v.optional(integer(1, "the number of disks")),
    }),
  ),
});

/** Properties, addresses and limits of a cloud, as the author of its CPI has written them down. */
export type CloudFile = v.InferOutput<typeof cloudFile>;

/** Checks a document that was read from `what`. */
export function readCloudFile(document: unknown, what: string): CloudFile {
  const checked = check(cloudFile, withoutNulls(document) ?? {}, "", 20);
  if (!checked.ok) throw CloudFileInvalid({ what, why: checked.problems.join("; ") });
  const first = checked.value.network?.first_address;
  if (first !== undefined && parseAddress(first) === undefined)
    throw CloudFileInvalid({ what, why: `network.first_address: ${first} is not an address` });
  return checked.value;
}

/** Returns the networks of the n-th VM, counted from 1: no two VMs have an address in common. */
export function networksOf({ network = { type: "manual" } }: CloudFile): (n: number) => object {
  const { type, first_address = "10.0.0.11", cloud_properties = {}, dns = [] } = network;
  const common = { cloud_properties, ...(dns.length > 0 && { dns }), default: ["dns", "gateway"] };
  if (type === "dynamic") return () => ({ private: { type, ...common } });
  const first = parseAddress(first_address);
  if (first === undefined) throw new Error(`bug: the address ${first_address} was not checked`);
  const { netmask = "255.255.255.0", gateway = "10.0.0.1" } = network;
  return (n) => {
    const ip = formatAddress({ ...first, value: first.value + BigInt(n - 1) });
    return { private: { type, ip, netmask, gateway, ...common } };
  };
}
