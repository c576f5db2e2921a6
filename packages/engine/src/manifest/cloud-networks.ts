import { type Fields, mapsOf } from "../documents/fields.ts";
import { type Report, shown } from "../documents/problems.ts";
import { canonicalProblem, checkWord } from "./canonical.ts";
import { type ManagedNetworks, managedHere } from "./managed-subnets.ts";
import { readManualSubnets } from "./manual-subnets.ts";
import type { CloudNetwork, DynamicNetwork, VipNetwork } from "./model.ts";
import { checkAllOrNone, readDns, readRanges, readSubnetAzs } from "./subnet-fields.ts";

const INVALID_CANONICAL = 420001;
const INVALID_TYPE = 190010;
const INVALID_PROPERTY = 160008;
/** Dynamic networks are of IPv4. */
const SINGLE = 32;

/** Rules for networks from the Director's configuration. */
export interface NetworkRules {
  /** Managed networks that CPIs have made; undefined: the Director manages no networks. */
  readonly managed: ManagedNetworks | undefined;
  /** Subnets may be without a gateway. */
  readonly noGateway: boolean;
}

/** One entry of `networks`; `zones` are the names of `azs`. */
export function readNetwork(
  report: Report,
  fields: Fields,
  zones: ReadonlySet<string>,
  { managed: recorded, noGateway }: NetworkRules,
): CloudNetwork | undefined {
  const name = fields.needText("name", "Give the network a name.");
  if (name !== undefined) checkWord(fields, name);
  const why = name === undefined ? undefined : canonicalProblem(name);
  if (why !== undefined) {
    fields.wrong(
      INVALID_CANONICAL,
      "name",
      `'${shown(name)}' cannot be used in DNS: ${why}`,
      "Choose another name.",
    );
  }
  const type = fields.has("type")
    ? fields.oneOf("type", ["manual", "dynamic", "vip"], INVALID_TYPE)
    : ("manual" as const);
  if (name === undefined || type === undefined) return undefined;
  if (type === "dynamic") return { type, name, subnets: readDynamicSubnets(report, fields, zones, name) };
  if (type === "vip") return readVip(report, fields, zones, name);
  const managed = managedHere(fields, name, recorded);
  const subnets = readManualSubnets(report, fields, zones, { name, managed, noGateway });
  return { type, name, ...(managed === undefined ? {} : { managed: true }), subnets };
}

function readDynamicSubnets(
  report: Report,
  fields: Fields,
  zones: ReadonlySet<string>,
  name: string,
): DynamicNetwork["subnets"] {
  for (const key of ["az", "azs", "managed", "prefix"]) {
    if (fields.has(key)) {
      fields.wrong(
        INVALID_PROPERTY,
        key,
        `Network '${shown(name)}' must not specify '${key}'.`,
        key.startsWith("az")
          ? "Put zones into its subnets."
          : "Remove it, or give the network the type manual.",
      );
    }
  }
  if (!fields.has("subnets")) {
    return [
      {
        azs: undefined,
        dns: readDns(name, fields),
        cloudProperties: fields.object("cloud_properties") ?? {},
      },
    ];
  }
  for (const key of ["dns", "cloud_properties"]) {
    if (fields.has(key)) {
      fields.wrong(
        INVALID_PROPERTY,
        key,
        `Network '${shown(name)}' must not specify '${key}' when also specifying 'subnets'. ` +
          `Instead, '${key}' should be specified on subnet entries.`,
        "Put it into the subnets.",
      );
    }
  }
  const subnets = mapsOf(report, fields.list("subnets"), fields.at("subnets"), null).map((subnet) => {
    const prefix = subnet.has("prefix") ? subnet.whole("prefix") : SINGLE;
    if (prefix !== undefined && prefix !== SINGLE)
      subnet.wrong(
        INVALID_PROPERTY,
        "prefix",
        "Prefix property is not supported for dynamic networks.",
        "Remove prefix, or give the network the type manual.",
      );
    return {
      azs: readSubnetAzs(name, subnet, zones),
      dns: readDns(name, subnet),
      cloudProperties: subnet.object("cloud_properties") ?? {},
    };
  });
  checkAllOrNone(name, fields, subnets);
  return subnets;
}

function readVip(report: Report, fields: Fields, zones: ReadonlySet<string>, name: string): VipNetwork {
  const subnets = mapsOf(report, fields.list("subnets"), fields.at("subnets"), null).map((subnet) => ({
    azs: readSubnetAzs(name, subnet, zones),
    static: readRanges(subnet, "static"),
  }));
  checkAllOrNone(name, fields, subnets);
  return { type: "vip", name, cloudProperties: fields.object("cloud_properties") ?? {}, subnets };
}
