import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { ServerUser } from "./user.ts";

const may = (of: { uid: number; gid: number; mode: number }, user: ServerUser, bits: number): boolean => {
  const shift = of.uid === user.uid ? 6 : of.gid === user.gid ? 3 : 0;
  return ((of.mode >> shift) & bits) === bits;
};

/** The first directory from the root that keeps `user` from entering `dir`, if any. */
export async function blockerOf(dir: string, user: ServerUser | undefined): Promise<string | undefined> {
  if (user === undefined) return undefined;
  const chain = [dir];
  for (let at = dir; dirname(at) !== at; at = dirname(at)) chain.unshift(dirname(at));
  for (const one of chain) if (!may(await stat(one), user, 1)) return one;
  return undefined;
}

/** Reports whether `user` may read (and, if `bits` says so, run) the file, seen from its own directory. */
export const mayUse = async (file: string, user: ServerUser | undefined, bits = 4): Promise<boolean> =>
  user === undefined || may(await stat(file), user, bits);
