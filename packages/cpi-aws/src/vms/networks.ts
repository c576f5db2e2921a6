import { interfaceNetworks } from "@slipway/cpi-sdk/networks";
import type { Network, Networks } from "@slipway/protocol/settings/networks";
import type { AwsCloud } from "../cloud.ts";
import { type Subnet, securityGroupIds, subnetsNamed } from "../ec2/subnets.ts";
import { BadAwsProperties, WrongZone } from "../errors.ts";
import { readNetworkProperties, type VmProperties } from "../properties.ts";

/** One network interface, for one network or those of a nic_group. */
export interface InterfacePlan {
  /** Names of the networks. */
  readonly networks: readonly string[];
  readonly subnet: string;
  readonly ipv4: string | undefined;
  readonly ipv6: string | undefined;
  /** Ranges that EC2 routes to the interface, such as `10.0.3.16/28`. */
  readonly ipv4Prefix: string | undefined;
  readonly ipv6Prefix: string | undefined;
  readonly groups: readonly string[];
}

export interface VipPlan {
  readonly ip: string;
  /** Index of the interface that gets the address. */
  readonly at: number;
}

export interface NetworkPlan {
  readonly interfaces: readonly InterfacePlan[];
  readonly vips: readonly VipPlan[];
  readonly zone: string;
}

type Grouped = Omit<InterfacePlan, "groups">;

/** Decides interfaces, security groups and zone. Asks EC2 for subnets, and for groups that are named. */
export async function planNetworks(
  cloud: AwsCloud,
  networks: Networks,
  properties: VmProperties,
  diskZones: ReadonlyMap<string, string>,
): Promise<NetworkPlan> {
  const grouped = groupInterfaces(networks);
  const subnets = await subnetsNamed(
    cloud,
    grouped.map(({ subnet }) => subnet),
  );
  const names = groupNames(cloud, networks, properties);
  const interfaces: InterfacePlan[] = [];
  for (const one of grouped) {
    const { vpcId } = subnets.get(one.subnet) as Subnet;
    interfaces.push({ ...one, groups: await securityGroupIds(cloud, names, vpcId) });
  }
  const vips = Object.entries(networks)
    .filter(([, { type }]) => type === "vip")
    .map(([name, network]) => vipOf(name, network, networks, grouped));
  return { interfaces, vips, zone: commonZone(subnets, properties, diskZones) };
}

function groupInterfaces(networks: Networks): readonly Grouped[] {
  const groups = new Map<string, (readonly [string, Network])[]>();
  for (const [name, network] of interfaceNetworks(networks)) {
    if (!["manual", "dynamic", "", undefined].includes(network.type))
      throw bad(name, `the type ${network.type} is not known`);
    const key = network.type === "dynamic" ? `dynamic ${name}` : `manual ${network.nic_group ?? name}`;
    groups.set(key, [...(groups.get(key) ?? []), [name, network]]);
  }
  if (groups.size === 0) throw bad("any", "a VM needs a manual or a dynamic network");
  return [...groups.values()].map(interfaceOf);
}

function interfaceOf(members: readonly (readonly [string, Network])[]): Grouped {
  const [first] = members;
  const name = first?.[0] ?? "";
  const subnets = members.map(
    ([one, network]) => readNetworkProperties(network.cloud_properties ?? {}, one, false).subnet ?? "",
  );
  if (new Set(subnets).size > 1)
    throw bad(
      name,
      `networks of one nic_group must have one subnet, and these have ${subnets.join(" and ")}`,
    );
  const addresses = members
    .filter(([, { type, ip }]) => type !== "dynamic" && ip)
    .map(([, { ip = "", prefix }]) => ({ ip, family: ip.includes(":") ? 6 : 4, prefix }));
  const single = (family: number) =>
    addresses.find((one) => one.family === family && isSingle(one.prefix, family))?.ip;
  const range = (family: number) => {
    const found = addresses.find((one) => one.family === family && !isSingle(one.prefix, family));
    return found === undefined ? undefined : `${found.ip}/${found.prefix}`;
  };
  const plan = {
    ...{ networks: members.map(([one]) => one), subnet: subnets[0] ?? "" },
    ...{ ipv4: single(4), ipv6: single(6), ipv4Prefix: range(4), ipv6Prefix: range(6) },
  };
  const manual = members.some(([, { type }]) => type !== "dynamic");
  if (manual && plan.ipv4 === undefined && plan.ipv6 === undefined)
    throw bad(
      name,
      "a manual network needs an address; one with a prefix must share a nic_group with another",
    );
  return plan;
}

/** Directors send the prefix of a single address, too. */
const isSingle = (prefix: string | undefined, family: number): boolean =>
  prefix === undefined || prefix === "" || Number(prefix) === (family === 4 ? 32 : 128);

/** The VM type's groups count, else those of all networks together, else the configuration's. */
function groupNames(cloud: AwsCloud, networks: Networks, properties: VmProperties): readonly string[] {
  const own = properties.security_groups ?? [];
  if (own.length > 0) return own;
  const all = Object.entries(networks).flatMap(
    ([name, { cloud_properties, type }]) =>
      readNetworkProperties(cloud_properties ?? {}, name, type === "vip").security_groups ?? [],
  );
  const found = all.length > 0 ? [...new Set(all)].sort() : (cloud.config.default_security_groups ?? []);
  if (found.length === 0)
    throw BadAwsProperties({
      what: "the VM",
      problems: ["no security groups: the VM type, the networks and aws.default_security_groups name none"],
    });
  return found;
}

function vipOf(
  name: string,
  { ip, nic_group: group }: Network,
  networks: Networks,
  grouped: readonly Grouped[],
): VipPlan {
  if (!ip) throw bad(name, "a vip network needs an address");
  const at =
    group === undefined
      ? 0
      : grouped.findIndex((one) =>
          one.networks.some((other) => (networks[other]?.nic_group ?? other) === group),
        );
  if (at < 0) throw bad(name, `no network has the nic_group '${group}'`);
  return { ip, at };
}

/** An instance, its interfaces and its disks are in one zone. */
function commonZone(
  subnets: ReadonlyMap<string, Subnet>,
  { availability_zone: wanted }: VmProperties,
  diskZones: ReadonlyMap<string, string>,
): string {
  const said = new Map<string, string>();
  if (wanted) said.set("availability_zone of the VM type", wanted);
  for (const [id, { availabilityZone }] of subnets) said.set(id, availabilityZone);
  for (const [disk, zone] of diskZones) said.set(`disk ${disk}`, zone);
  const zones = new Set(said.values());
  const [zone, ...others] = zones;
  if (zone === undefined || others.length > 0)
    throw WrongZone({
      what: "the VM, its subnets and its disks",
      zones: [...said].map(([what, one]) => `${what} is in ${one}`),
    });
  return zone;
}

const bad = (network: string, problem: string) =>
  BadAwsProperties({ what: `network '${network}'`, problems: [problem] });
