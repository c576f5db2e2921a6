import type { Network } from "@slipway/protocol/settings/networks";

export const numberOf = (ip: string): number =>
  ip.split(".").reduce((number, part) => number * 256 + Number(part), 0);

export const textOf = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");

const network = (ip: string, prefix: number): number => {
  const size = 2 ** (32 - prefix);
  return Math.floor(numberOf(ip) / size) * size;
};

/** Whether a range such as `10.0.0.0/8`, or a single address, has this address. */
export function contains(range: string, ip: string): boolean {
  const [base = "", bits = "32"] = range.split("/");
  return network(base, Number(bits)) === network(ip, Number(bits));
}

/** Of a netmask; undefined for one with holes. */
export function prefixOf({ netmask }: Network): number | undefined {
  if (!netmask || !/^\d{1,3}(\.\d{1,3}){3}$/.test(netmask)) return undefined;
  const bits = numberOf(netmask).toString(2).padStart(32, "0");
  return /^1*0*$/.test(bits) ? bits.replaceAll("0", "").length : undefined;
}

export function rangeOf(given: Network & { readonly ip: string }): string {
  const prefix = prefixOf(given) ?? 32;
  return `${textOf(network(given.ip, prefix))}/${prefix}`;
}
