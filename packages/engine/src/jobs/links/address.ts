import type { JsonObject } from "@slipway/protocol/schema/json";
import { type DnsQuery, dnsName } from "../dns/encoder.ts";
import type { DnsGroup, DnsIds } from "../dns/ids.ts";
import { type LinkProvider, linkGroupName } from "./model.ts";

export interface AddressedLink {
  readonly content: JsonObject;
  /** Undefined: it is gone. */
  readonly provider: Pick<LinkProvider, "kind" | "name" | "type"> | undefined;
}

/** The name under which all instances behind a link are found. Null: it was written by hand, without one. */
export function linkAddress(
  { content, provider }: AddressedLink,
  ids: DnsIds,
  asked: Pick<DnsQuery, "azs" | "status"> = {},
): string | null {
  if (provider?.kind === "manual" || provider?.kind === "disk")
    return typeof content.address === "string" ? content.address : null;
  const deployment = String(content.deployment_name);
  const byLink = content.use_link_dns_names === true && provider !== undefined;
  const group: DnsGroup = byLink
    ? { type: "link", name: linkGroupName(provider), deployment }
    : { type: "instance-group", name: String(content.instance_group), deployment };
  const network = String(content.default_network);
  const short = byLink || content.use_short_dns_addresses === true;
  return dnsName({ ...asked, group, network, domain: String(content.domain) }, ids, short);
}
