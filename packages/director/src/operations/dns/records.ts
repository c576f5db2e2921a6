import { createHash } from "node:crypto";
import type { DnsBlob } from "@slipway/engine/agents/agent";
import { dnsRecords } from "@slipway/engine/jobs/dns/records";
import { linkGroupName } from "@slipway/engine/jobs/links/model";
import type { Json, JsonObject } from "@slipway/protocol/schema/json";
import { type DnsVersion, instancesWithNames, renewDns } from "../../store/dns.ts";
import { dnsIds, giveDnsIds, type NamedInDns } from "../../store/dns-ids.ts";
import { providersWithNames } from "../../store/links.ts";
import type { Db } from "../../store/schema.ts";

/** Settings of local DNS in the configuration. */
export interface LocalDns {
  readonly enabled: boolean;
  /** The root domain. */
  readonly domain: string;
  /** Default for deployments that do not set it. */
  readonly useDnsAddresses: boolean;
  readonly includeIndex: boolean;
}

export interface RenewedDns {
  readonly now: DnsVersion;
  /** True if an instance is found elsewhere than before: others are to know it soon. */
  readonly moved: boolean;
}

/** The records of all instances as they are now; what has no number yet gets one. */
export async function renewedDns(db: Db, settings: LocalDns): Promise<RenewedDns> {
  const { now, before } = await renewDns(db, (tx, last) => contentOf(tx, last, settings));
  return { now, moved: now !== before && namesIn(now) !== namesIn(before) };
}

async function contentOf(
  db: Db,
  before: DnsVersion | undefined,
  { domain, includeIndex }: LocalDns,
): Promise<string> {
  const known = agentsIn(before);
  // An instance whose VM is being recreated keeps its names meanwhile; one that never had a VM has none yet.
  const instances = (await instancesWithNames(db)).flatMap((one) => {
    const agentId = one.agentId ?? known.get(one.uuid);
    return agentId === undefined ? [] : [{ ...one, agentId }];
  });
  const providers = await providersWithNames(db);
  const named: NamedInDns = {
    azs: [...new Set(instances.flatMap(({ az }) => az ?? []))],
    networks: [...new Set(instances.flatMap(({ addresses }) => addresses.map(({ network }) => network)))],
    groups: [
      ...instances.map(({ deployment, group }) => ({
        type: "instance-group" as const,
        name: group,
        deployment,
      })),
      ...providers.map((one) => ({
        type: "link" as const,
        name: linkGroupName(one),
        deployment: one.deployment,
      })),
    ],
  };
  await giveDnsIds(db, named);
  const ids = await dnsIds(db);
  return JSON.stringify(dnsRecords({ version: 0, domain, includeIndex, instances, providers, ids }));
}

interface Content {
  readonly records: readonly (readonly [ip: string, name: string])[];
  readonly record_keys: readonly string[];
  readonly record_infos: readonly (readonly Json[])[];
}

const parsed = ({ content }: DnsVersion): Content => JSON.parse(content) as Content;

const namesIn = (version: DnsVersion | undefined): string =>
  version === undefined ? "" : JSON.stringify(parsed(version).records);

/** Returns the agents by the uuid of their instance. */
function agentsIn(version: DnsVersion | undefined): ReadonlyMap<string, string> {
  if (version === undefined) return new Map();
  const { record_keys: keys, record_infos: infos } = parsed(version);
  const [id, agent] = [keys.indexOf("id"), keys.indexOf("agent_id")];
  return new Map(infos.map((info) => [String(info[id]), String(info[agent])]));
}

/** Id of the records for every version: an agent overwrites those it had before. */
const BLOB_ID = "dns-records";

/** Returns the records as agents get them. */
export function dnsBlob({ version, content }: DnsVersion): DnsBlob & { readonly bytes: Uint8Array } {
  const bytes = Buffer.from(JSON.stringify({ ...(JSON.parse(content) as JsonObject), version }));
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  return { blobId: BLOB_ID, digest, version, bytes };
}
