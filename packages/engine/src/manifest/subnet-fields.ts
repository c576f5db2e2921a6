import { type Fields, WRONG_TYPE } from "../documents/fields.ts";
import { shown } from "../documents/problems.ts";
import { kindOf, own } from "../documents/tree.ts";
import { formatIp, parseIp, parseRange } from "./ip.ts";
import type { IpRange } from "./model.ts";

const INVALID_DNS = 160004;
const UNKNOWN_AZ = 160007;
const INVALID_PROPERTY = 160008;
const MIXED_AZS = 150007;
const INVALID_RANGE_FORMAT = 160010;

/** `az` or `azs`, each known. */
export function readSubnetAzs(
  network: string,
  subnet: Fields,
  zones: ReadonlySet<string>,
): readonly string[] | undefined {
  if (subnet.has("az") && subnet.has("azs")) {
    subnet.wrong(
      INVALID_PROPERTY,
      "az",
      `Network '${shown(network)}' contains both 'az' and 'azs'. Choose one.`,
      "Keep azs.",
    );
  }
  if (subnet.has("azs") && subnet.list("azs")?.length === 0) {
    subnet.wrong(
      INVALID_PROPERTY,
      "azs",
      `Network '${shown(network)}' refers to an empty 'azs' array`,
      "Name zones, or remove the key.",
    );
  }
  const single = subnet.text("az");
  const azs = subnet.has("azs") ? subnet.texts("azs") : single === undefined ? undefined : [single];
  for (const az of azs ?? []) {
    if (!zones.has(az)) {
      subnet.wrong(
        UNKNOWN_AZ,
        subnet.has("azs") ? "azs" : "az",
        `Network '${shown(network)}' refers to an unknown availability zone '${shown(az)}'`,
        "Add it to azs, or correct the name.",
      );
    }
  }
  return azs;
}

/** Zones are named by all subnets of a network, or by none. */
export function checkAllOrNone(
  network: string,
  fields: Fields,
  subnets: readonly { readonly azs: readonly string[] | undefined }[],
): void {
  const without = subnets.findIndex((subnet) => subnet.azs === undefined);
  if (without < 0 || subnets.every((subnet) => subnet.azs === undefined)) return;
  fields.wrong(
    MIXED_AZS,
    `subnets[${without}]`,
    `Subnets on network '${shown(network)}' must all either specify availability zone or not`,
    "Give it azs, or remove them from the others.",
  );
}

export function readDns(network: string, fields: Fields): readonly string[] {
  return (fields.texts("dns") ?? []).flatMap((address, i) => {
    const ip = parseIp(address);
    if (ip !== undefined) return [formatIp(ip)];
    fields.wrong(
      INVALID_DNS,
      `dns[${i}]`,
      `Invalid DNS for network '${shown(network)}': must be a single IP`,
      "Write an address such as 10.0.0.2 or fd00::2.",
    );
    return [];
  });
}

/** Ranges: addresses, `a-b` or CIDRs. */
export function readRanges(fields: Fields, key: string): readonly IpRange[] {
  return rangesUnder(fields, key).flatMap(({ item, place }) => {
    const range = typeof item === "string" ? parseRange(item) : undefined;
    if (range !== undefined) return [range];
    if (typeof item !== "string") {
      fields.wrong(WRONG_TYPE, place, `expected an address or range, found ${kindOf(item)}`, RANGE_FIX);
    } else {
      fields.wrong(INVALID_RANGE_FORMAT, place, `Invalid IP range format: ${shown(item)}`, RANGE_FIX);
    }
    return [];
  });
}

interface WrittenRange {
  readonly item: unknown;
  /** Below the map: `static[0]`. */
  readonly place: string;
}

/** Returns what is written as ranges, as upstream reads it: one, or lists of them in lists. Null means no range. */
export function rangesUnder(fields: Fields, key: string): readonly WrittenRange[] {
  const flat = (item: unknown, place: string): readonly WrittenRange[] => {
    if (!Array.isArray(item)) return item === null || item === undefined ? [] : [{ item, place }];
    return item.flatMap((inner: unknown, i) => flat(inner, `${place}[${i}]`));
  };
  return flat(own(fields.map, key), key);
}

const RANGE_FIX = "Write 10.0.0.5, 10.0.0.5-10.0.0.9 or 10.0.0.0/28; IPv6 likewise.";
