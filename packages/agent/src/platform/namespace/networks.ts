import type { Networks } from "@slipway/protocol/settings/networks";
import type { Paths } from "../../paths.ts";
import { addressesFromOs, type LocalAddress, liveNetworkFromProc } from "../linux/networks/live.ts";
import type { LiveNetwork, NetworkPlatform } from "../platform.ts";

/** Reads the networks that the creator of the sandbox has set up. The agent changes nothing. */
export function namespaceNetworks(
  paths: Paths,
  addresses: () => readonly LocalAddress[] = addressesFromOs,
): NetworkPlatform {
  let given: Networks = {};
  return {
    configure: async (networks) => {
      given = networks;
    },
    live: async () => (await liveNetworkFromProc(paths, addresses())) ?? fromSettings(given),
    // The neighbours of a sandbox are its host's affair.
    deleteArpEntries: async () => {},
  };
}

/** A sandbox may have no way out at all; then what its networks were said to be has to do. */
function fromSettings(networks: Networks): LiveNetwork | undefined {
  const usable = Object.values(networks).filter((network) => network.type !== "vip" && network.ip);
  const chosen = usable.find((network) => network.default?.includes("gateway")) ?? usable[0];
  if (!chosen?.ip) return undefined;
  return { ip: chosen.ip, netmask: chosen.netmask ?? "", gateway: chosen.gateway ?? "" };
}
