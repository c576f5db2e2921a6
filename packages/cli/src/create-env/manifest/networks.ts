import { type Fields, MISSING, mapsOf, unique, WRONG_VALUE } from "@slipway/engine/documents/fields";
import { type Report, shown } from "@slipway/engine/documents/problems";
import { contains, netmask, parseCidr, parseIp } from "@slipway/engine/manifest/ip";
import { readManualSubnets } from "@slipway/engine/manifest/manual-subnets";
import type { ManualSubnet } from "@slipway/engine/manifest/model";
import { readDns } from "@slipway/engine/manifest/subnet-fields";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Network, Networks } from "@slipway/protocol/settings/networks";
import { onlyKeys } from "./strict.ts";

type Defined =
  | { readonly type: "manual"; readonly name: string; readonly subnet: ManualSubnet | undefined }
  | {
      readonly type: "dynamic";
      readonly name: string;
      readonly dns: readonly string[];
      readonly cloudProperties: JsonObject;
    }
  | { readonly type: "vip"; readonly name: string; readonly cloudProperties: JsonObject };

const NONE: ReadonlySet<string> = new Set();

/** The section `networks`. */
export function readNetworks(report: Report, items: readonly unknown[] | undefined): readonly Defined[] {
  const read = mapsOf(report, items, "networks").flatMap((fields): (Defined & { where: string })[] => {
    onlyKeys(fields, ["name", "type", "subnets", "dns", "cloud_properties", "defaults"]);
    const name = fields.needText("name", "Give the network a name.");
    const type = fields.oneOf("type", ["manual", "dynamic", "vip"]) ?? "manual";
    if (name === undefined) return [];
    return [{ ...defined(report, fields, name, type), where: fields.where }];
  });
  unique(report, WRONG_VALUE, read);
  return read;
}

function defined(report: Report, fields: Fields, name: string, type: Defined["type"]): Defined {
  if (type === "manual") {
    const subnets = readManualSubnets(report, fields, NONE, { name, managed: undefined, noGateway: false });
    if (subnets.length > 1)
      fields.wrong(WRONG_VALUE, "subnets", "there are several", "Keep one: create-env knows no zones.");
    if (subnets.some(({ prefix }) => prefix !== undefined))
      fields.wrong(
        WRONG_VALUE,
        "subnets",
        "a subnet has a prefix",
        "Remove it: create-env gives one address.",
      );
    return { type, name, subnet: subnets[0] };
  }
  const cloudProperties = fields.object("cloud_properties") ?? {};
  return type === "vip"
    ? { type, name, cloudProperties }
    : { type, name, cloudProperties, dns: readDns(name, fields) };
}

/** Returns the networks of the instance group, in the form that the CPI and the agent take. */
export function groupNetworks(report: Report, group: Fields, networks: readonly Defined[]): Networks {
  const items = group.needList("networks", "Name the network of the VM: networks: [{name: default, ...}].");
  const asked = mapsOf(report, items, group.at("networks"));
  if (items?.length === 0) group.wrong(MISSING, "networks", "the list is empty", "Name a network.");
  const result: Record<string, Network> = {};
  for (const fields of asked) {
    onlyKeys(fields, ["name", "static_ips", "default"]);
    const name = fields.needText("name", "Name one of the manifest's networks.");
    const found = networks.find((one) => one.name === name);
    if (name !== undefined && found === undefined)
      fields.wrong(WRONG_VALUE, "name", `there is no network '${shown(name)}'`, "Add it to networks.");
    if (name === undefined || found === undefined) continue;
    if (Object.hasOwn(result, name))
      fields.wrong(WRONG_VALUE, "name", `the network '${shown(name)}' is there twice`, "Remove one.");
    const defaults = fields.texts("default") ?? (asked.length === 1 ? ["dns", "gateway"] : []);
    result[name] = settings(fields, found, defaults);
  }
  return result;
}

function settings(fields: Fields, network: Defined, defaults: readonly string[]): Network {
  const ip = staticIp(fields, network);
  const as = defaults.length === 0 ? {} : { default: [...defaults].sort() };
  if (network.type === "vip")
    return { type: "vip", ...(ip !== undefined && { ip }), cloud_properties: network.cloudProperties };
  if (network.type === "dynamic")
    return { type: "dynamic", dns: [...network.dns], ...as, cloud_properties: network.cloudProperties };
  const { subnet } = network;
  const cidr = parseCidr(subnet?.range.trim() ?? "");
  return {
    type: "manual",
    ...(ip !== undefined && { ip }),
    ...(cidr !== undefined && { netmask: netmask(cidr) }),
    ...(subnet?.gateway !== undefined && { gateway: subnet.gateway }),
    dns: [...(subnet?.dns ?? [])],
    ...as,
    cloud_properties: subnet?.cloudProperties ?? {},
  };
}

/** One VM, one address. */
function staticIp(fields: Fields, network: Defined): string | undefined {
  const ips = fields.texts("static_ips") ?? [];
  if (network.type === "dynamic") {
    if (ips.length > 0)
      fields.wrong(
        WRONG_VALUE,
        "static_ips",
        "the network is dynamic: the cloud gives the address",
        "Remove them.",
      );
    return undefined;
  }
  const [ip] = ips;
  if (ip === undefined || ips.length > 1) {
    fields.wrong(
      MISSING,
      "static_ips",
      "the VM needs exactly one address here",
      "Write static_ips: [10.0.0.6].",
    );
    return undefined;
  }
  const address = parseIp(ip);
  if (address === undefined) {
    fields.wrong(WRONG_VALUE, "static_ips[0]", "this is no address", "Write an address such as 10.0.0.6.");
    return undefined;
  }
  const cidr = network.type === "manual" ? parseCidr(network.subnet?.range.trim() ?? "") : undefined;
  if (cidr !== undefined && !contains(cidr, address))
    fields.wrong(WRONG_VALUE, "static_ips[0]", `it is outside the network's range`, "Give one of the range.");
  return ip;
}
