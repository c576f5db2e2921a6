import { parseAddress } from "@slipway/kernel/ip-address";

/** Port that agents listen on. */
export const AGENT_PORT = 6868;

const LISTENS = "0A";

/** Reports whether a process listens at this address and port, by the text of `/proc/net/tcp` and `/proc/net/tcp6`. */
export function listenersOn(tables: string, ip: string, port: number): boolean {
  const mine = hexOf(ip);
  return tables.split("\n").some((line) => {
    const [, local = "", , state] = line.trim().split(/\s+/);
    const [address = "", hexPort = ""] = local.split(":");
    if (state !== LISTENS || Number.parseInt(hexPort, 16) !== port) return false;
    // Everywhere, in either family, or there; IPv4 in IPv6 ends with the IPv4 address.
    return /^0+$/.test(address) || address === mine || (address.length === 32 && address.endsWith(mine));
  });
}

/** Writes an address as the kernel shows it: the bytes in the order of this (little-endian) machine. */
const hexOf = (ip: string): string => {
  const hex = (parseAddress(ip)?.value ?? 0n).toString(16).padStart(8, "0").toUpperCase();
  return (hex.match(/../g) ?? []).reverse().join("");
};
