import type { IpRange } from "../manifest/model.ts";

/** Sorted, and one where they touch. */
export function mergeRanges(ranges: readonly IpRange[]): readonly IpRange[] {
  const merged: { first: number; last: number }[] = [];
  for (const { first, last } of [...ranges].sort((a, b) => a.first - b.first)) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last);
    else merged.push({ first, last });
  }
  return merged;
}

/** What is left of a range without others, which are merged. */
export function without(range: IpRange, others: readonly IpRange[]): readonly IpRange[] {
  const left: IpRange[] = [];
  let from = range.first;
  for (const other of others) {
    if (other.last < from) continue;
    if (other.first > range.last) break;
    if (other.first > from) left.push({ first: from, last: other.first - 1 });
    from = other.last + 1;
  }
  if (from <= range.last) left.push({ first: from, last: range.last });
  return left;
}

/** Whether merged ranges hold an address. */
export function holds(ranges: readonly IpRange[], address: number): boolean {
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle];
    if (range === undefined) return false;
    if (address < range.first) high = middle - 1;
    else if (address > range.last) low = middle + 1;
    else return true;
  }
  return false;
}
