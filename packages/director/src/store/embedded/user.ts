import { NoServerUser, WrongOwner } from "../errors.ts";

export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const CANDIDATES = ["postgres", "nobody"];

/** The accounts of an /etc/passwd. */
export function usersOf(passwd: string): ServerUser[] {
  return passwd.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":");
    return name && /^\d+$/.test(uid ?? "") && /^\d+$/.test(gid ?? "")
      ? [{ name, uid: Number(uid), gid: Number(gid) }]
      : [];
  });
}

/**
 * Chooses the user that the server runs as: ourselves (undefined) or, because it refuses root, an existing user. An existing data
 * directory decides: `postgres` may have been installed after it was made.
 */
export function serverUser(given: {
  readonly self: number;
  readonly users: readonly ServerUser[];
  readonly data: { readonly dir: string; readonly uid: number; readonly gid: number } | undefined;
}): ServerUser | undefined {
  const { self, users, data } = given;
  if (self !== 0) {
    if (data !== undefined && data.uid !== self) throw WrongOwner({ dir: data.dir, owner: data.uid, self });
    return undefined;
  }
  if (data !== undefined) {
    if (data.uid === 0) throw WrongOwner({ dir: data.dir, owner: 0, self });
    const known = users.find((user) => user.uid === data.uid);
    return { name: known?.name ?? String(data.uid), uid: data.uid, gid: known?.gid ?? data.gid };
  }
  const found = CANDIDATES.flatMap(
    (name) => users.find((user) => user.name === name && user.uid !== 0) ?? [],
  );
  if (found[0] === undefined) throw NoServerUser({ tried: CANDIDATES.join(", ") });
  return found[0];
}
