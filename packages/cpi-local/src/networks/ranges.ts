import { BITS, prefixOf as prefixOfMask, rangeOf as rangeOfMask } from "@slipway/kernel/ip-address";
import type { Network } from "@slipway/protocol/settings/networks";

/** Of a netmask; undefined for one with holes, or of the other family. */
export const prefixOf = ({ ip, netmask }: Network): number | undefined => prefixOfMask(ip ?? "", netmask);

/** The address alone, as routes name it. */
export const alone = (ip: string): string => `${ip}/${ip.includes(":") ? BITS[6] : BITS[4]}`;

/** By its netmask. */
export const rangeOf = ({ ip, netmask }: Network & { readonly ip: string }): string =>
  rangeOfMask(ip, netmask) ?? alone(ip);
