import { contains, overlap, sizeOf } from "../manifest/ip.ts";
import type { IpRange } from "../manifest/model.ts";
import type { InstanceUuid } from "../model/names.ts";
import type { Pool } from "./network-pools.ts";

/** Holder of an address: an instance of this deployment, which has a `uuid`, or an outside owner. */
export interface Holder {
  readonly uuid: InstanceUuid | undefined;
  /** `instance 'web/0a1b' from deployment 'shop'`. */
  readonly text: () => string;
}

/** All addresses taken in the Director, one holder each, whatever the network: overlapping subnets share them. */
export interface AddressAllocator {
  holder(address: bigint): Holder | undefined;
  /** Claims `size` addresses from this one on. Returns false if another holder has one of them. */
  claim(address: bigint, holder: Holder, size?: bigint): boolean;
  /**
   * Takes the lowest free address, or the first one of the lowest free prefix. Nothing is given back while planning, so the
   * search only goes up.
   */
  takeLowest(pool: Pool, holder: Holder): bigint | undefined;
}

export function newAddressAllocator(): AddressAllocator {
  const holders = new Map<bigint, Holder>();
  /** Prefixes may be larger than can be counted through. */
  const blocks: (IpRange & { readonly holder: Holder })[] = [];
  const cursors = new Map<Pool, { at: bigint; range: number }>();

  const holderOf = (address: bigint): Holder | undefined =>
    holders.get(address) ?? blocks.find((block) => contains(block, address))?.holder;

  /** Returns the holders of addresses in the range. */
  function holdersIn(range: IpRange): readonly Holder[] {
    const found = blocks.filter((block) => overlap(block, range)).map(({ holder }) => holder);
    if (sizeOf(range) > holders.size) {
      for (const [address, holder] of holders) if (contains(range, address)) found.push(holder);
      return found;
    }
    for (let at = range.first; at <= range.last; at += 1n) found.push(...[holders.get(at) ?? []].flat());
    return found;
  }

  function keep(address: bigint, holder: Holder, size: bigint): void {
    if (size === 1n) holders.set(address, holder);
    else blocks.push({ first: address, last: address + size - 1n, holder });
  }

  /** Prefixes begin where their size divides. */
  const aligned = (address: bigint, size: bigint): bigint => ((address + size - 1n) / size) * size;

  function takeLowest(pool: Pool, holder: Holder): bigint | undefined {
    const cursor = cursors.get(pool) ?? { at: 0n, range: 0 };
    cursors.set(pool, cursor);
    for (; cursor.range < pool.open.length; cursor.range += 1) {
      const range = pool.open[cursor.range] as IpRange;
      const { size } = pool;
      if (cursor.at < range.first) cursor.at = aligned(range.first, size);
      for (; cursor.at + size - 1n <= range.last; cursor.at += size) {
        const taken =
          size === 1n && blocks.length === 0
            ? holders.has(cursor.at)
            : holdersIn({ first: cursor.at, last: cursor.at + size - 1n }).length > 0;
        if (taken) continue;
        keep(cursor.at, holder, size);
        return cursor.at;
      }
    }
    return undefined;
  }

  return {
    holder: holderOf,
    claim: (address, holder, size = 1n) => {
      const before =
        size === 1n
          ? [holderOf(address) ?? []].flat()
          : holdersIn({ first: address, last: address + size - 1n });
      if (before.some(({ uuid }) => uuid === undefined || uuid !== holder.uuid)) return false;
      keep(address, holder, size);
      return true;
    },
    takeLowest,
  };
}
