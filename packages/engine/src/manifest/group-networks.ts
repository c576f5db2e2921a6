import { type Fields, mapsOf, unique, WRONG_TYPE, WRONG_VALUE } from "../documents/fields.ts";
import { type Report, shown } from "../documents/problems.ts";
import { kindOf, own } from "../documents/tree.ts";
import { formatIp, parseRange, sizeOf } from "./ip.ts";
import type { GroupNetwork } from "./model.ts";
import { rangesUnder } from "./subnet-fields.ts";

/** More addresses than any group has instances. */
export const MOST_INSTANCES = 100_000;

const MISSING_NETWORK = 140009;
const INVALID_DEFAULT = 150003;
const MULTIPLE_DEFAULTS = 150004;
const MISSING_DEFAULT = 150005;
const INVALID_STATIC_IPS = 150009;

const CLAIMS = ["dns", "gateway", "addressable"];
/** Defaults that one of the networks must have. */
const REQUIRED = ["dns", "gateway"];

export function readGroupNetworks(report: Report, group: Fields): readonly GroupNetwork[] {
  const items = group.list("networks");
  const where = group.at("networks");
  if (items === undefined || items.length === 0) {
    if (items !== undefined || !group.has("networks")) {
      report.add(
        MISSING_NETWORK,
        where,
        `Instance group '${groupName(group)}' must specify at least one network`,
        "Name at least one network of the cloud config: networks: [{name: private}].",
      );
    }
    return [];
  }
  const read = mapsOf(report, items, where, null).flatMap((fields) => {
    const network = readNetwork(report, fields, groupName(group));
    return network === undefined ? [] : [{ ...network, where: fields.at("name") }];
  });
  unique(report, WRONG_VALUE, read);
  const networks = read.map(({ where: _, ...network }) => network);
  return withDefaults(report, where, groupName(group), networks, items.length);
}

function readNetwork(report: Report, fields: Fields, group: string): GroupNetwork | undefined {
  const name = fields.needText("name", "Give the name of a network of the cloud config.");
  const staticIps = readStaticIps(report, fields, group);
  const claims = fields.texts("default") ?? [];
  for (const claim of claims) {
    if (!CLAIMS.includes(claim)) {
      fields.wrong(
        INVALID_DEFAULT,
        "default",
        `Instance group '${group}' specified an invalid default network property '${shown(claim)}', ` +
          `valid properties are: ${REQUIRED.join(", ")}`,
        `Use ${CLAIMS.join(", ")}.`,
      );
    }
  }
  const nicGroup = readNicGroup(fields);
  return name === undefined
    ? undefined
    : {
        name,
        staticIps,
        default: [...new Set(claims)].sort(),
        ...(nicGroup === undefined ? {} : { nicGroup }),
      };
}

const groupName = (group: Fields): string => shown(own(group.map, "name"));

/** A number or a name: it is compared, and handed to the CPI as text. */
function readNicGroup(fields: Fields): string | undefined {
  if (!fields.has("nic_group")) return undefined;
  const value = own(fields.map, "nic_group");
  if (typeof value === "number" || (typeof value === "string" && value !== "")) return String(value);
  fields.wrong(
    WRONG_TYPE,
    "nic_group",
    `expected a number or a name, found ${kindOf(value)}`,
    "Give networks that share an interface the same number.",
  );
  return undefined;
}

function readStaticIps(report: Report, fields: Fields, group: string): readonly string[] {
  const addresses: string[] = [];
  const seen = new Set<string>();
  for (const { item, place } of rangesUnder(fields, "static_ips")) {
    const where = fields.at(place);
    const range = typeof item === "string" ? parseRange(item) : undefined;
    if (range === undefined) {
      const why =
        typeof item !== "string"
          ? `expected an address, found ${kindOf(item)}`
          : `Invalid IP range format: ${shown(item)}`;
      report.add(
        typeof item === "string" ? INVALID_STATIC_IPS : WRONG_TYPE,
        where,
        why,
        "Write 10.0.0.5, 10.0.0.5-10.0.0.9 or 10.0.0.0/28.",
      );
      continue;
    }
    if (BigInt(addresses.length) + sizeOf(range) > MOST_INSTANCES) {
      report.add(
        INVALID_STATIC_IPS,
        where,
        `more than ${MOST_INSTANCES} addresses`,
        "Give as many as there are instances.",
      );
      break;
    }
    for (let ip = range.first; ip <= range.last; ip++) {
      const address = formatIp(ip);
      if (seen.has(address)) {
        report.add(
          INVALID_STATIC_IPS,
          where,
          `Instance group '${group}' specifies static IP '${address}' more than once`,
          "Remove one of them.",
        );
      } else addresses.push(address);
      seen.add(address);
    }
  }
  return addresses;
}

/** A single network is the default for everything; of several, one must be named for each. */
function withDefaults(
  report: Report,
  where: string,
  group: string,
  networks: readonly GroupNetwork[],
  count: number,
): readonly GroupNetwork[] {
  const [only] = networks;
  if (count === 1) {
    return only === undefined
      ? []
      : [{ ...only, default: [...new Set([...only.default, ...REQUIRED])].sort() }];
  }
  const holders = CLAIMS.map((claim) => ({
    claim,
    names: networks.filter((network) => network.default.includes(claim)).map(({ name }) => shown(name)),
  }));
  const several = holders.filter(({ names }) => names.length > 1);
  if (several.length > 0) {
    const each = several.map(
      ({ claim, names }) =>
        `'${claim}' has default networks: ${names.map((name) => `'${name}'`).join(", ")}.`,
    );
    report.add(
      MULTIPLE_DEFAULTS,
      where,
      `Instance group '${group}' specified more than one network to contain default. ${each.join(" ")}`,
      `Leave ${several.map(({ claim }) => claim).join(" and ")} in the default list of one of them.`,
    );
  }
  const missing = holders.filter(({ claim, names }) => names.length === 0 && REQUIRED.includes(claim));
  if (missing.length > 0) {
    report.add(
      MISSING_DEFAULT,
      where,
      `Instance group '${group}' must specify which network is default for ` +
        `${missing.map(({ claim }) => claim).join(", ")}, since it has more than one network configured`,
      `With several networks, one needs default: [${REQUIRED.join(", ")}].`,
    );
  }
  return networks;
}
