import { canonical } from "../../manifest/canonical.ts";
import { DnsIdMissing } from "../errors.ts";
import { type DnsGroup, type DnsIds, groupKey } from "./ids.ts";

/** Selects the instances that a DNS name stands for. */
export interface DnsQuery {
  readonly group: DnsGroup;
  readonly network: string;
  /** The root domain. */
  readonly domain: string;
  /** One instance of the group. */
  readonly uuid?: string;
  readonly azs?: readonly string[];
  readonly status?: string;
  readonly initialHealthCheck?: string;
}

const HEALTH: ReadonlyMap<string, number> = new Map([
  ["default", 0],
  ["unhealthy", 1],
  ["healthy", 3],
  ["all", 4],
]);
const CHECKS: ReadonlyMap<string, string> = new Map([
  ["asynchronous", "y0"],
  ["synchronous", "y1"],
]);

/** The name under which the instances are found. Short names are made of numbers, long ones of names. */
export function dnsName(query: DnsQuery, ids: DnsIds, short: boolean): string {
  const { group, network, domain, uuid } = query;
  const first = uuid !== undefined && !short ? uuid : `q-${lettersOf(query, ids, short)}`;
  if (short) return `${first}.q-g${groupId(group, ids)}.${domain}`;
  return longName(first, group.name, network, group.deployment, domain);
}

export const longName = (
  host: string | number,
  group: string,
  network: string,
  deployment: string,
  domain: string,
): string => [host, canonical(group), canonical(network), canonical(deployment), domain].join(".");

/** Returns the group's number as text; empty if it has none. */
export const groupId = (group: DnsGroup, ids: DnsIds): string =>
  String(ids.groups.get(groupKey(group)) ?? "");

/** Each letter says one thing; they stand in the order of the alphabet. */
function lettersOf(query: DnsQuery, ids: DnsIds, short: boolean): string {
  const id = (known: ReadonlyMap<string, number>, what: string, name: string): number => {
    const found = known.get(name);
    if (found === undefined) throw DnsIdMissing({ what, name });
    return found;
  };
  const letters = (query.azs ?? []).map((az) => `a${id(ids.azs, "AZ", az)}`);
  if (short && query.uuid !== undefined) letters.push(`m${id(ids.instances, "instance UUID", query.uuid)}`);
  if (short) letters.push(`n${id(ids.networks, "Network", query.network)}`);
  letters.push(`s${HEALTH.get(query.status ?? "default") ?? 0}`);
  const check = CHECKS.get(query.initialHealthCheck ?? "");
  if (check !== undefined) letters.push(check);
  return letters.sort().join("");
}
