import { type Fields, WRONG_TYPE } from "../documents/fields.ts";
import { shown } from "../documents/problems.ts";
import { kindOf, own } from "../documents/tree.ts";
import { formatIp, parseIp, parseRange } from "./ip.ts";
import type { IpRange } from "./model.ts";

const INVALID_DNS = 160004;
const UNKNOWN_AZ = 160007;
const INVALID_AZ = 160009;
const INVALID_RANGE_FORMAT = 160010;

/** `az` or `azs`, each known. */
export function readSubnetAzs(subnet: Fields, zones: ReadonlySet<string>): readonly string[] | undefined {
  if (subnet.has("az") && subnet.has("azs")) {
    subnet.wrong(INVALID_AZ, "az", "both az and azs are given", "Keep azs.");
  }
  if (subnet.has("azs") && subnet.list("azs")?.length === 0) {
    subnet.wrong(INVALID_AZ, "azs", "the list is empty", "Name zones, or remove the key.");
  }
  const single = subnet.text("az");
  const azs = subnet.has("azs") ? subnet.texts("azs") : single === undefined ? undefined : [single];
  for (const az of azs ?? []) {
    if (!zones.has(az)) {
      subnet.wrong(
        UNKNOWN_AZ,
        subnet.has("azs") ? "azs" : "az",
        `there is no availability zone '${shown(az)}' in the cloud config`,
        "Add it to azs, or correct the name.",
      );
    }
  }
  return azs;
}

/** Zones are named by all subnets of a network, or by none. */
export function checkAllOrNone(
  fields: Fields,
  subnets: readonly { readonly azs: readonly string[] | undefined }[],
): void {
  const without = subnets.findIndex((subnet) => subnet.azs === undefined);
  if (without < 0 || subnets.every((subnet) => subnet.azs === undefined)) return;
  fields.wrong(
    INVALID_AZ,
    `subnets[${without}]`,
    "it names no availability zone, other subnets of the network do",
    "Give it azs, or remove them from the others.",
  );
}

export function readDns(fields: Fields): readonly string[] {
  return (fields.texts("dns") ?? []).flatMap((address, i) => {
    const ip = parseIp(address);
    if (ip !== undefined) return [formatIp(ip)];
    fields.wrong(INVALID_DNS, `dns[${i}]`, "this is no address", "Write one such as 10.0.0.2 or fd00::2.");
    return [];
  });
}

/** A range or a list of them: addresses, `a-b` or CIDRs. */
export function readRanges(fields: Fields, key: string): readonly IpRange[] {
  if (!fields.has(key)) return [];
  const value = own(fields.map, key);
  const items = Array.isArray(value) ? (value as readonly unknown[]) : [value];
  return items.flatMap((item, i) => {
    const range = typeof item === "string" ? parseRange(item) : undefined;
    if (range !== undefined) return [range];
    const place = Array.isArray(value) ? `${key}[${i}]` : key;
    if (typeof item !== "string") {
      fields.wrong(WRONG_TYPE, place, `expected an address or range, found ${kindOf(item)}`, RANGE_FIX);
    } else {
      fields.wrong(INVALID_RANGE_FORMAT, place, "this is no address, range a-b or CIDR", RANGE_FIX);
    }
    return [];
  });
}

const RANGE_FIX = "Write 10.0.0.5, 10.0.0.5-10.0.0.9 or 10.0.0.0/28; IPv6 likewise.";
