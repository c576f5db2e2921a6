import type { Json, JsonObject } from "@slipway/protocol/schema/json";
import { canonical } from "../../manifest/canonical.ts";
import { DnsIdMissing } from "../errors.ts";
import { groupBy } from "../group-by.ts";
import { type LinkProvider, linkGroupName } from "../links/model.ts";
import { groupId, longName } from "./encoder.ts";
import type { DnsIds } from "./ids.ts";

/** An instance that is to be found by name, of whatever deployment. */
export interface DnsInstance {
  readonly deployment: string;
  readonly group: string;
  readonly uuid: string;
  readonly index: number;
  readonly az: string | null;
  readonly agentId: string | null;
  /** Each network with an address that is known. */
  readonly addresses: readonly { readonly network: string; readonly ip: string }[];
}

export type DnsProvider = Pick<LinkProvider, "deployment" | "group" | "name" | "type" | "aliases">;

export interface RecordsInput {
  /** Agents take only what is newer than what they have. */
  readonly version: number;
  /** The root domain. */
  readonly domain: string;
  /** Names by index too, beside those by uuid. */
  readonly includeIndex: boolean;
  /** Instances of all deployments. */
  readonly instances: readonly DnsInstance[];
  readonly providers: readonly DnsProvider[];
  readonly ids: DnsIds;
}

const RECORD_KEYS = [
  "id",
  "num_id",
  "instance_group",
  "group_ids",
  "az",
  "az_id",
  "network",
  "network_id",
  "deployment",
  "ip",
  "domain",
  "agent_id",
  "instance_index",
] as const;

/** Returns all names for agents and bosh-dns, as one document. */
export function dnsRecords(input: RecordsInput): JsonObject {
  const { version, domain, includeIndex, instances, providers, ids } = input;
  const key = (deployment: string, group: string) => JSON.stringify([deployment, group]);
  const byGroup = groupBy(providers, (one) => key(one.deployment, one.group));
  const found = instances.flatMap((one) =>
    one.addresses.map((address) => ({
      one,
      ...address,
      links: byGroup.get(key(one.deployment, one.group)) ?? [],
    })),
  );
  return {
    records: found.flatMap(({ one, network, ip }): Json[] => {
      const name = (host: string | number) => longName(host, one.group, network, one.deployment, domain);
      return [[ip, name(one.uuid)], ...(includeIndex ? [[ip, name(one.index)]] : [])];
    }),
    version,
    record_keys: RECORD_KEYS,
    record_infos: found.map(({ one, network, ip, links }) => {
      const info: Record<(typeof RECORD_KEYS)[number], Json> = {
        id: one.uuid,
        num_id: idOf(ids.instances, "instance UUID", one.uuid),
        instance_group: canonical(one.group),
        group_ids: groupIds(one, links, ids),
        az: one.az,
        az_id: one.az === null ? null : idOf(ids.azs, "AZ", one.az),
        network: canonical(network),
        network_id: idOf(ids.networks, "Network", network),
        deployment: canonical(one.deployment),
        ip,
        domain,
        agent_id: one.agentId,
        instance_index: one.index,
      };
      return RECORD_KEYS.map((name) => info[name]);
    }),
    aliases: aliasesOf(input),
  };
}

function idOf(known: ReadonlyMap<string, number>, what: string, name: string): string {
  const id = known.get(name);
  if (id === undefined) throw DnsIdMissing({ what, name });
  return String(id);
}

/** Returns the number of the instance group, then those of the links that the group provides. */
function groupIds(
  { group, deployment }: DnsInstance,
  links: readonly DnsProvider[],
  ids: DnsIds,
): readonly string[] {
  const names = [...new Set(links.map(linkGroupName))].sort();
  return [
    groupId({ type: "instance-group", name: group, deployment }, ids),
    ...names.map((name) => groupId({ type: "link", name, deployment }, ids)),
  ];
}

/** Names that operators chose, each with the links behind it. */
function aliasesOf({ providers, domain, ids }: RecordsInput): JsonObject {
  const all = providers.flatMap((provider) =>
    provider.aliases.flatMap((alias) => {
      const group = {
        type: "link",
        name: linkGroupName(provider),
        deployment: provider.deployment,
      } as const;
      const target = {
        root_domain: domain,
        group_id: groupId(group, ids),
        health_filter: alias.health_filter ?? null,
        initial_health_check: alias.initial_health_check ?? null,
        placeholder_type: alias.placeholder_type ?? null,
      };
      return typeof alias.domain === "string" ? [{ name: alias.domain, target }] : [];
    }),
  );
  const byName = groupBy(all, ({ name }) => name);
  return Object.fromEntries(
    [...byName].map(([name, targets]) => [name, targets.map(({ target }) => target)]),
  );
}
