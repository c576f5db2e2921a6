import { cloudError } from "@slipway/cpi-sdk/errors";
import type { Networks } from "@slipway/protocol/settings/networks";

/** The host's own addresses are all there are; every one of 127.0.0.0/8 is the host's on Linux. */
export function checkNetworks(networks: Networks): Networks {
  return Object.fromEntries(
    Object.entries(networks).map(([name, network]) => {
      if (network.type === "vip") return [name, network];
      const ip = network.ip ?? "127.0.0.1";
      if (!/^127\.\d+\.\d+\.\d+$/.test(ip))
        throw cloudError(
          `network '${name}': this CPI has only addresses of 127.0.0.0/8, got ${ip}. Use a manual network with a range such as 127.20.0.0/24.`,
        );
      return [name, { ...network, ip, preconfigured: true }];
    }),
  );
}
