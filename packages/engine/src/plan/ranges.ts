import type { IpRange } from "../manifest/model.ts";

/** Returns the parts of a range outside other ranges, which are merged. */
export function without(range: IpRange, others: readonly IpRange[]): readonly IpRange[] {
  const left: IpRange[] = [];
  let from = range.first;
  for (const other of others) {
    if (other.last < from) continue;
    if (other.first > range.last) break;
    if (other.first > from) left.push({ first: from, last: other.first - 1n });
    from = other.last + 1n;
  }
  if (from <= range.last) left.push({ first: from, last: range.last });
  return left;
}

/** Returns true if merged ranges contain an address, or `size` addresses from it on. */
export function holds(ranges: readonly IpRange[], address: bigint, size = 1n): boolean {
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle];
    if (range === undefined) return false;
    if (address < range.first) high = middle - 1;
    else if (address > range.last) low = middle + 1;
    else return address + size - 1n <= range.last;
  }
  return false;
}
