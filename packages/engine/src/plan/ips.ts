import type { IpRange } from "../manifest/model.ts";
import type { InstanceUuid } from "../model/names.ts";
import type { Pool } from "./network-pools.ts";

/** Who has an address: an instance of this deployment, or somebody else. */
export interface Holder {
  readonly uuid: InstanceUuid | undefined;
  /** `instance 'web/0a1b' from deployment 'shop'`. */
  readonly text: () => string;
}

/** All addresses taken in the Director, one holder each, whatever the network: overlapping subnets share them. */
export interface Ledger {
  holder(address: bigint): Holder | undefined;
  /** False when somebody else has it. */
  claim(address: bigint, holder: Holder): boolean;
  /** The lowest free address. Nothing is given back while planning, so the search never turns round. */
  takeLowest(pool: Pool, holder: Holder): bigint | undefined;
}

export function newLedger(): Ledger {
  const holders = new Map<bigint, Holder>();
  const cursors = new Map<Pool, { at: bigint; range: number }>();

  function takeLowest(pool: Pool, holder: Holder): bigint | undefined {
    const cursor = cursors.get(pool) ?? { at: 0n, range: 0 };
    cursors.set(pool, cursor);
    for (; cursor.range < pool.open.length; cursor.range += 1) {
      const range = pool.open[cursor.range] as IpRange;
      if (cursor.at < range.first) cursor.at = range.first;
      for (; cursor.at <= range.last; cursor.at += 1n) {
        if (holders.has(cursor.at)) continue;
        holders.set(cursor.at, holder);
        return cursor.at;
      }
    }
    return undefined;
  }

  return {
    holder: (address) => holders.get(address),
    claim: (address, holder) => {
      const before = holders.get(address);
      if (before !== undefined && (before.uuid === undefined || before.uuid !== holder.uuid)) return false;
      holders.set(address, holder);
      return true;
    },
    takeLowest,
  };
}
