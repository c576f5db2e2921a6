import type { Json, JsonObject } from "@slipway/protocol/schema/json";
import { groupId } from "../dns/encoder.ts";
import type { DnsGroup, DnsIds } from "../dns/ids.ts";
import { type LinkProvider, linkGroupName, type PlannedLink } from "./model.ts";

/** Keys of a link that templates may see. */
const VISIBLE = [
  "address",
  "default_network",
  "deployment_name",
  "domain",
  "instance_group",
  "instances",
  "properties",
  "use_link_dns_names",
  "use_short_dns_addresses",
];

/** A link as templates read it, with the numbers that `link(...).address` makes names of. */
export function templateLink({ content, provider }: PlannedLink, ids: DnsIds): JsonObject {
  const seen = Object.fromEntries(Object.entries(content).filter(([key]) => VISIBLE.includes(key)));
  const network = ids.networks.get(String(content.default_network));
  return {
    ...seen,
    group_name: linkGroupName(provider),
    group_id: groupId(dnsGroupOf(provider, content), ids),
    network_id: network === undefined ? null : String(network),
    az_ids: Object.fromEntries([...ids.azs].map(([name, id]): [string, Json] => [name, String(id)])),
  };
}

const dnsGroupOf = (provider: LinkProvider, content: JsonObject): DnsGroup =>
  content.use_link_dns_names === true
    ? { type: "link", name: linkGroupName(provider), deployment: provider.deployment }
    : { type: "instance-group", name: provider.group, deployment: provider.deployment };

/** For `.bosh/links.json`, in its order. */
export const providedLinks = (
  providers: readonly LinkProvider[],
  ids: DnsIds,
): readonly { readonly name: string; readonly type: string; readonly group: string }[] =>
  providers
    .map((one) => {
      const group = { type: "link", name: linkGroupName(one), deployment: one.deployment } as const;
      return { name: one.name, type: one.type, group: groupId(group, ids) };
    })
    .sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : 0));
