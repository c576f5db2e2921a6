import { type Fields, mapsOf, unique } from "../documents/fields.ts";
import { type Report, shown } from "../documents/problems.ts";
import { own } from "../documents/tree.ts";
import {
  byFirst,
  type Cidr,
  contains,
  findOverlap,
  formatIp,
  formatRange,
  mergeRanges,
  overlap,
  parseCidr,
  parseIp,
  parseRange,
  singlePrefix,
  within,
} from "./ip.ts";
import { type ManagedNetwork, readManagedSubnet } from "./managed-subnets.ts";
import type { IpRange, ManualSubnet } from "./model.ts";
import { checkAllOrNone, readDns, readRanges, readSubnetAzs } from "./subnet-fields.ts";

const OVERLAP = 160001;
const INVALID_RANGE = 160002;
const INVALID_GATEWAY = 160003;
const RESERVED_OUTSIDE = 160005;
const STATIC_WRONG = 160006;
const INVALID_PROPERTY = 160008;
const PREFIX_TOO_BIG = 16013;
const PREFIXES_DIFFER = 16014;

interface ManualNetwork {
  readonly name: string;
  readonly managed: ManagedNetwork | undefined;
  readonly noGateway: boolean;
}

export function readManualSubnets(
  report: Report,
  network: Fields,
  zones: ReadonlySet<string>,
  its: ManualNetwork,
): readonly ManualSubnet[] {
  const { name } = its;
  const items = network.needList("subnets", "A manual network needs subnets with range and gateway.");
  const read = mapsOf(report, items, network.at("subnets"), null).map((fields) =>
    readSubnet(fields, zones, its),
  );
  checkAllOrNone(name, network, read);
  unique(
    report,
    INVALID_PROPERTY,
    read.flatMap(({ name: own, where }) =>
      own === undefined ? [] : [{ name: own, where: `${where}.name` }],
    ),
    { say: () => "subnet names within a managed network must be unique" },
  );
  const other = read.find(({ prefix }) => prefix !== read[0]?.prefix);
  if (other !== undefined)
    report.add(
      PREFIXES_DIFFER,
      `${other.where}.prefix`,
      `Network '${shown(name)}' has subnets that define different prefixes`,
      "Give all subnets of a network the same prefix.",
    );
  const ranges = read.flatMap(({ cidr, where, range }) =>
    cidr === undefined ? [] : [{ cidr, where, range }],
  );
  const sorted = [...ranges].sort((a, b) => byFirst(a.cidr, b.cidr));
  let widest = sorted[0];
  for (const one of sorted.slice(1)) {
    if (widest !== undefined && overlap(widest.cidr, one.cidr)) {
      report.add(
        OVERLAP,
        `${one.where}.range`,
        `Network '${shown(name)}' has overlapping subnets: ${one.range} and ${widest.range}`,
        "Give the subnets of a network ranges of their own.",
      );
    }
    if (widest === undefined || one.cidr.last > widest.cidr.last) widest = one;
  }
  return read.map(({ cidr: _, where: __, ...subnet }) => subnet);
}

function readSubnet(
  fields: Fields,
  zones: ReadonlySet<string>,
  { name, managed, noGateway }: ManualNetwork,
): ManualSubnet & { readonly cidr: Cidr | undefined; readonly where: string } {
  const azs = readSubnetAzs(name, fields, zones);
  const its = managed && readManagedSubnet(fields, name, managed);
  const { recorded } = its ?? {};
  const need = (key: string, fix: string) => (its ? fields.text(key) : fields.needText(key, fix));
  const range = need("range", "Give a CIDR such as 10.0.0.0/24.") ?? (recorded?.range || undefined);
  const cidr = range === undefined ? undefined : readRange(fields, range);
  const prefix = readPrefix(fields, cidr);
  const way = noGateway
    ? fields.text("gateway")
    : need("gateway", "Give the address of the gateway in the range.");
  const gateway = way ?? recorded?.gateway ?? undefined;
  const kept = (recorded?.reserved ?? []).flatMap((text) => parseRange(text) ?? []);
  const reserved = [...readRanges(fields, "reserved"), ...kept];
  const fixed = readRanges(fields, "static");
  if (cidr !== undefined) {
    checkGateway(name, fields, cidr, gateway);
    checkReserved(name, fields, cidr, reserved);
    checkStatic(name, fields, cidr, fixed, reserved, gateway);
  }
  return {
    cidr,
    where: fields.where,
    range: range ?? "",
    ...(prefix === undefined ? {} : { prefix }),
    ...(its === undefined ? {} : { name: its.name, netmaskBits: its.netmaskBits }),
    gateway: gateway === undefined ? undefined : canonical(gateway),
    dns: readDns(name, fields),
    azs,
    reserved,
    static: fixed,
    cloudProperties: recorded?.cloudProperties ?? fields.object("cloud_properties") ?? {},
  };
}

/** Reads a prefix, as a number or as digits. A prefix for a single address counts as absent. */
function readPrefix(fields: Fields, cidr: Cidr | undefined): number | undefined {
  if (!fields.has("prefix")) return undefined;
  const written = own(fields.map, "prefix");
  const text = typeof written === "number" || typeof written === "string" ? String(written) : "";
  const most = cidr === undefined ? 128 : Number(singlePrefix(cidr.first));
  const prefix = /^[1-9][0-9]{0,2}$/.test(text) ? Number(text) : most + 1;
  if (prefix > most) {
    fields.wrong(
      INVALID_PROPERTY,
      "prefix",
      `'${shown(written)}' is no prefix`,
      `Give a number of at most ${most}, such as 28.`,
    );
    return undefined;
  }
  if (cidr !== undefined && prefix < cidr.bits)
    fields.wrong(
      PREFIX_TOO_BIG,
      "prefix",
      `Prefix size '${prefix}' is larger than range prefix '${cidr.bits}'`,
      "Give a larger number, or a larger range.",
    );
  return prefix === most && cidr !== undefined ? undefined : prefix;
}

/** Returns one spelling of each address, so that a VM's settings do not change with how the config writes it. */
const canonical = (address: string): string => {
  const ip = parseIp(address);
  return ip === undefined ? address : formatIp(ip);
};

function readRange(fields: Fields, range: string): Cidr | undefined {
  const cidr = parseCidr(range.trim());
  if (cidr !== undefined) return cidr;
  fields.wrong(
    INVALID_RANGE,
    "range",
    `Invalid network range '${shown(range)}'`,
    "Write a CIDR such as 10.0.0.0/24 or fd00::/64.",
  );
  return undefined;
}

function checkGateway(name: string, fields: Fields, cidr: Cidr, gateway: string | undefined): void {
  if (gateway === undefined) return;
  const ip = parseIp(gateway);
  const problem =
    ip === undefined
      ? "must be a single IP"
      : !contains(cidr, ip)
        ? `must be inside the range ${formatRange(cidr)}`
        : ip === cidr.first
          ? "can't be the network id"
          : ip === cidr.last
            ? "can't be the broadcast IP"
            : undefined;
  if (problem !== undefined) {
    fields.wrong(
      INVALID_GATEWAY,
      "gateway",
      `Invalid gateway for network '${shown(name)}': ${problem}`,
      "Give an address inside the range, not its first or last.",
    );
  }
}

function checkReserved(name: string, fields: Fields, cidr: Cidr, reserved: readonly IpRange[]): void {
  for (const range of reserved) {
    if (!within(range, cidr)) {
      fields.wrong(
        RESERVED_OUTSIDE,
        "reserved",
        `Reserved IP '${formatRange(range)}' is out of network '${shown(name)}' range ${formatRange(cidr)}`,
        "Give addresses of the range.",
      );
    }
  }
}

function checkStatic(
  name: string,
  fields: Fields,
  cidr: Cidr,
  fixed: readonly IpRange[],
  reserved: readonly IpRange[],
  gateway: string | undefined,
): void {
  const taken = mergeRanges(reserved);
  const gatewayIp = gateway === undefined ? undefined : parseIp(gateway);
  for (const range of fixed) {
    const hit = findOverlap(taken, range);
    const problem = !within(range, cidr)
      ? `out of network '${shown(name)}' range ${formatRange(cidr)}`
      : hit !== undefined
        ? `in network '${shown(name)}' reserved range ${formatRange(hit)}`
        : gatewayIp !== undefined && contains(range, gatewayIp)
          ? `in network '${shown(name)}' reserved range: ${formatIp(gatewayIp)} is the gateway's`
          : contains(range, cidr.first) || contains(range, cidr.last)
            ? `in network '${shown(name)}' reserved range: the first and last address of it`
            : undefined;
    if (problem !== undefined) {
      fields.wrong(
        STATIC_WRONG,
        "static",
        `Static IP '${formatRange(range)}' is ${problem}`,
        "Give free addresses of the range, not its first or last.",
      );
    }
  }
}
