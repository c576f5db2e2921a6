import type { Fields } from "../documents/fields.ts";
import { shown } from "../documents/problems.ts";
import type { NetworkRecord, SubnetRecord } from "../model/records.ts";
import { formatIp, parseCidr, parseIp, parseRange } from "./ip.ts";

const INVALID_GATEWAY = 160003;
const INVALID_PROPERTY = 160008;
const SUBNET_NOT_FOUND = 91000;

/** Networks that CPIs have made, by name. */
export type ManagedNetworks = ReadonlyMap<string, NetworkRecord>;

/** A network that is to be managed, and what is recorded of it; undefined: it was not made yet. */
export interface ManagedNetwork {
  readonly recorded: NetworkRecord | undefined;
}

/** Returns the managed network, or undefined if it is not managed. `recorded` undefined: the Director manages no networks. */
export function managedHere(
  fields: Fields,
  name: string,
  recorded: ManagedNetworks | undefined,
): ManagedNetwork | undefined {
  if (fields.flag("managed") !== true) return undefined;
  if (recorded === undefined) {
    fields.wrong(
      INVALID_PROPERTY,
      "managed",
      `Network '${shown(name)}' is managed, and this Director has no networks made by CPIs`,
      "Set director.enable_cpi_network_management in the Director's configuration, or remove managed.",
    );
    return undefined;
  }
  const found = recorded.get(name);
  // One that was never finished is made again from what the cloud config says now.
  return { recorded: found?.ready === true ? found : undefined };
}

export interface ManagedSubnet {
  readonly name: string | undefined;
  readonly netmaskBits: number | undefined;
  /** Undefined: it is yet to be made. */
  readonly recorded: SubnetRecord | undefined;
}

/** Reads a subnet for the CPI to make, and compares it with the one that was made. */
export function readManagedSubnet(fields: Fields, network: string, managed: ManagedNetwork): ManagedSubnet {
  const name = fields.needText("name", "A managed network finds its subnets by their names: give each one.");
  const netmaskBits = fields.whole("netmask_bits", { min: 1, max: 128 });
  const recorded = managed.recorded?.subnets.find((one) => one.name === name);
  if (name !== undefined && managed.recorded !== undefined && recorded === undefined)
    fields.wrong(
      SUBNET_NOT_FOUND,
      "name",
      `cannot find subnet: ${shown(name)} in the database: network '${shown(network)}' was made without it`,
      `Make a network of another name with it, or delete '${shown(network)}' when nobody uses it any more.`,
    );
  if (!fields.has("range") && fields.has("gateway"))
    fields.wrong(
      INVALID_GATEWAY,
      "gateway",
      `Invalid gateway for network '${shown(network)}': the CPI chooses the range, and the gateway with it`,
      "Remove the gateway, or give the range.",
    );
  if (recorded !== undefined) checkUnchanged(fields, network, recorded);
  return { name, netmaskBits, recorded };
}

/** Rejects changes of a subnet that a CPI has made: another range would be another network. */
function checkUnchanged(fields: Fields, network: string, { name, range, gateway }: SubnetRecord): void {
  const differs = (key: string, made: string) =>
    fields.wrong(
      INVALID_PROPERTY,
      key,
      `subnet '${shown(name)}' of network '${shown(network)}' was made with the ${key} ${made}, which cannot be changed`,
      `Write ${made}, or make a network of another name.`,
    );
  const wanted = fields.text("range");
  if (wanted !== undefined && !sameRange(wanted, range)) differs("range", range);
  const way = fields.text("gateway");
  if (way !== undefined && gateway !== null && parseIp(way) !== parseIp(gateway)) differs("gateway", gateway);
}

export function sameRange(a: string, b: string): boolean {
  const [one, other] = [parseCidr(a.trim()), parseCidr(b.trim())];
  return one === undefined || other === undefined
    ? a === b
    : one.first === other.first && one.bits === other.bits;
}

/** Why what a CPI says of a network it has made cannot be used; undefined: it can. */
export function unusable({ range, gateway, reserved }: SubnetRecord): string | undefined {
  if (range === "") return "it says no range, and the cloud config has none";
  const cidr = parseCidr(range);
  if (cidr === undefined) return `its range '${shown(range)}' is none`;
  const way = gateway === null ? undefined : parseIp(gateway);
  if (gateway !== null && (way === undefined || way < cidr.first || way > cidr.last))
    return `its gateway '${shown(gateway)}' is not in its range ${range}`;
  const outside = reserved.find((text) => {
    const kept = parseRange(text);
    return kept === undefined || kept.first < cidr.first || kept.last > cidr.last;
  });
  return outside === undefined
    ? undefined
    : `Reserved IP '${shown(outside)}' is out of subnet range ${formatIp(cidr.first)}/${cidr.bits}`;
}
