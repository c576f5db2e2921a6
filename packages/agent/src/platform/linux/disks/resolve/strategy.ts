import type { DiskContext } from "../context.ts";
import type { DiskIdentity } from "../hint-target.ts";

/** Outcome of one strategy. */
export interface Attempt {
  /** For the operator: where was looked, for what. */
  readonly tried: string;
  /** Paths of device nodes. */
  readonly devices: readonly string[];
}

/** One way to get from a hint to devices; undefined when the hint has nothing for it to go by. */
export type Strategy = (target: DiskIdentity, context: DiskContext) => Promise<Attempt | undefined>;

/**
 * Normalizes a disk id: udev, the kernel and IaaS differ in case, dashes and prefixes (`vol-0a`, `vol0a`;
 * `naa.6000c29a…`, `0x6000c29a…`). Other differences count.
 */
export function plainId(id: string): string {
  return id
    .toLowerCase()
    .replace(/^(naa\.|eui\.|t10\.|uuid\.|0x)/, "")
    .replaceAll("-", "");
}

/** Returns the ids of the disk itself: those of the hint, else the cid, which CPIs use as serial number. */
export function idsOf(target: DiskIdentity): readonly string[] {
  const explicit = explicitIds(target);
  return explicit.length > 0 || target.cid === "" ? explicit : [target.cid];
}

/** If the hint names the disk itself, leading to some other disk by its place would be a guess. */
export const explicitIds = (target: DiskIdentity): readonly string[] =>
  [target.id, target.serial, target.wwn].filter((id) => id !== undefined);
