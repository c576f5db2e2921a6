import { isIP } from "node:net";
import { defaultNetwork, interfaceNetworks, nameServers, preconfigured } from "@slipway/cpi-sdk/networks";
import { rangeOf } from "@slipway/kernel/ip-address";
import { check } from "@slipway/protocol/schema/check";
import { open } from "@slipway/protocol/schema/json";
import { doc } from "@slipway/protocol/schema/marks";
import type { Network, Networks } from "@slipway/protocol/settings/networks";
import * as v from "valibot";
import { AddressRefused, BadProperties } from "../errors.ts";

/** A network's `cloud_properties`. */
const networkProperties = open({
  name: v.optional(
    doc(
      v.pipe(v.string(), v.regex(/^[a-zA-Z0-9][\w.-]*$/, "name must be a name of a Docker network")),
      "the Docker network; for manual networks left out, the one with the range, which is made if there is none",
    ),
  ),
});

/** Wishes of a VM for one network. */
export interface NetworkRequest {
  /** Name of the network in the manifest. */
  readonly network: string;
  /** The Docker network, where one is named. */
  readonly named: string | undefined;
  readonly ip: string | undefined;
  readonly range: string | undefined;
  readonly gateway: string | undefined;
}

export interface ContainerNetworkPlan {
  /** Requests, beginning with the network that has the way out. */
  readonly requests: readonly NetworkRequest[];
  /** Networks as the agent shall see them. */
  readonly networks: Networks;
  readonly dns: readonly string[];
  /** The way out, where the engine might take another. */
  readonly gateway: string | undefined;
}

/** The engine gives addresses and routes; the agent leaves them alone, and only writes DNS. */
export function planNetworks(networks: Networks): ContainerNetworkPlan {
  const requests = interfaceNetworks(networks).map(([name, network]) => requestOf(name, network));
  const wayOut = defaultNetwork(networks, "gateway");
  const first = requests.find(({ network }) => network === wayOut);
  return {
    requests: first === undefined ? [] : [first, ...requests.filter((request) => request !== first)],
    networks: preconfigured(networks),
    dns: nameServers(networks),
    gateway: requests.length > 1 ? first?.gateway : undefined,
  };
}

function requestOf(network: string, given: Network): NetworkRequest {
  const checked = check(networkProperties, given.cloud_properties ?? {}, "cloud_properties");
  if (!checked.ok) throw BadProperties({ what: `network '${network}'`, problems: checked.problems });
  const ip = given.type === "dynamic" ? undefined : given.ip || undefined;
  if (given.type !== "dynamic" && ip === undefined)
    throw AddressRefused({ network, ip: "(none)", why: "a manual network needs an address" });
  if (ip !== undefined && isIP(ip) === 0)
    throw AddressRefused({ network, ip: JSON.stringify(ip), why: "it is no address" });
  if (given.gateway && isIP(given.gateway) === 0)
    throw AddressRefused({ network, ip: JSON.stringify(given.gateway), why: "the gateway is no address" });
  const range = ip === undefined ? undefined : rangeOf(ip, given.netmask);
  return { network, named: checked.value.name, ip, range, gateway: given.gateway || undefined };
}
