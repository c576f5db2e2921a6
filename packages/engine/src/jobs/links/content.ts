import type { Json, JsonObject } from "@slipway/protocol/schema/json";
import type { InstanceGroup } from "../../manifest/model.ts";
import type { DesiredInstance } from "../../model/goal.ts";
import { addressOn, defaultNetwork, type Naming } from "../dns/address.ts";
import { type LinkConsumer, type LinkProvider, linkGroupName } from "./model.ts";

/** Returns the link content of a provider: each instance with its addresses on all networks, of which a consumer gets one. */
export function providerContent(
  provider: LinkProvider,
  group: InstanceGroup,
  instances: readonly DesiredInstance[],
  naming: Naming,
): JsonObject {
  const network = defaultNetwork(group.networks);
  const link = { type: "link", name: linkGroupName(provider), deployment: naming.deployment } as const;
  const addresses = (one: DesiredInstance, preferDns: boolean): JsonObject =>
    Object.fromEntries(
      Object.keys(one.networks).map((name) => [name, addressOn(one, name, naming, { preferDns, link })]),
    );
  return {
    deployment_name: naming.deployment,
    domain: naming.domain,
    default_network: network ?? null,
    networks: group.networks.map(({ name }) => name),
    instance_group: group.name,
    properties: provider.properties,
    use_short_dns_addresses: naming.short,
    use_dns_addresses: naming.useDns,
    use_link_dns_names: naming.byLink,
    instances: inLinkOrder(instances).map((one) => ({
      name: group.name,
      id: one.uuid,
      index: one.index,
      bootstrap: one.bootstrap,
      az: one.az,
      address:
        network === undefined ? null : addressOn(one, network, naming, { preferDns: naming.useDns, link }),
      addresses: addresses(one, false),
      dns_addresses: addresses(one, true),
    })),
  };
}

/** Returns the link content of a named disk: its name, by which jobs find it on their VM. */
export const diskContent = ({ deployment, properties }: LinkProvider): JsonObject => ({
  deployment_name: deployment,
  properties,
  networks: [],
  instances: [],
});

/** Upstream's order, which templates have relied on: the bootstrap instance, its zone, those without, the other zones. */
export function inLinkOrder(instances: readonly DesiredInstance[]): readonly DesiredInstance[] {
  const first = instances.find(({ bootstrap }) => bootstrap);
  const rank = (one: DesiredInstance): readonly [number, string, string] => {
    if (one === first) return [0, "", ""];
    if (first !== undefined && one.az === first.az) return [1, "", one.uuid];
    return one.az === null ? [2, "", one.uuid] : [3, one.az, one.uuid];
  };
  const ranked = instances.map((one) => ({ one, rank: rank(one) }));
  ranked.sort(({ rank: a }, { rank: b }) => a[0] - b[0] || compare(a[1], b[1]) || compare(a[2], b[2]));
  return ranked.map(({ one }) => one);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export type LinkContent =
  | { readonly ok: true; readonly content: JsonObject; readonly notes: readonly string[] }
  | { readonly ok: false; readonly problem: string };

/** Returns the link content for one consumer: each instance with the one address that the consumer asked for. */
export function linkContent(
  provided: JsonObject,
  { network: wanted, ipAddresses }: Pick<LinkConsumer, "network" | "ipAddresses">,
  consumerUsesDns: boolean,
): LinkContent {
  const network = wanted ?? (provided.default_network as string | null) ?? "";
  const byName = ipAddresses === undefined ? provided.use_dns_addresses === true : !ipAddresses;
  const expectsName = ipAddresses === undefined ? consumerUsesDns : !ipAddresses;
  const notes: string[] = [];
  const instances: Json[] = [];
  for (const one of (provided.instances ?? []) as readonly JsonObject[]) {
    const { addresses, dns_addresses: names, ...rest } = one;
    const known = (byName ? names : addresses) as JsonObject | undefined;
    if (known === undefined || !Object.hasOwn(known, network))
      return { ok: false, problem: `Provider link does not have network: '${network}'` };
    const address = known[network] ?? null;
    if (expectsName && address === (addresses as JsonObject | undefined)?.[network] && isIp(address))
      notes.push(
        `DNS address not available for the link provider instance: ${String(rest.name)}/${String(rest.id)}`,
      );
    instances.push({ ...rest, address });
  }
  return { ok: true, content: { ...provided, default_network: network, instances }, notes };
}

/** A name has a letter somewhere; an address has none, or a colon. */
const isIp = (address: Json): boolean =>
  typeof address === "string" && (address.includes(":") || !/[a-z]/i.test(address));
