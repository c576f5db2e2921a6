import type { Network } from "@slipway/protocol/settings/networks";
import type { DesiredInstance } from "../../model/goal.ts";
import type { JobsInput } from "../model.ts";
import { dnsName } from "./encoder.ts";
import { type DnsGroup, type DnsIds, NO_IDS } from "./ids.ts";

/** How a deployment names its instances. */
export interface Naming {
  readonly deployment: string;
  readonly domain: string;
  /** The Director has DNS, whatever the deployment does with it. */
  readonly enabled: boolean;
  /** Addresses are names rather than IPs. */
  readonly useDns: boolean;
  readonly short: boolean;
  /** Instances are named by the link they provide. */
  readonly byLink: boolean;
  readonly ids: DnsIds;
}

const ROOT_DOMAIN = "bosh";

export function namingOf({ manifest, dns }: Pick<JobsInput, "manifest" | "dns">): Naming {
  const { useDnsAddresses, useShortDnsAddresses, useLinkDnsNames } = manifest.features;
  return {
    deployment: manifest.name,
    domain: dns?.domain ?? ROOT_DOMAIN,
    enabled: dns?.enabled ?? false,
    useDns: useDnsAddresses ?? dns?.useDnsAddresses ?? false,
    short: useShortDnsAddresses ?? false,
    byLink: useLinkDnsNames ?? false,
    ids: dns?.ids ?? NO_IDS,
  };
}

/** The network whose address is the instance's: the addressable one, else the one with the gateway. */
export function defaultNetwork(
  networks: readonly { readonly name: string; readonly default: readonly string[] }[],
) {
  return (
    networks.find((one) => one.default.includes("addressable")) ??
    networks.find((one) => one.default.includes("gateway"))
  )?.name;
}

/** Returns the address of an instance on a network; null while it is unknown. */
export function addressOn(
  instance: DesiredInstance,
  network: string,
  naming: Naming,
  { preferDns, link }: { readonly preferDns: boolean; readonly link?: DnsGroup },
): string | null {
  const settings: Network | undefined = instance.networks[network];
  if (settings === undefined) return null;
  if (settings.type !== "dynamic" && !(preferDns && naming.enabled)) return settings.ip ?? null;
  const own: DnsGroup = { type: "instance-group", name: instance.group, deployment: naming.deployment };
  const group = link !== undefined && naming.byLink ? link : own;
  const short = naming.short || group.type === "link";
  return dnsName({ group, network, domain: naming.domain, uuid: instance.uuid }, naming.ids, short);
}
