import { readFile } from "node:fs/promises";
import type { Paths } from "../../../paths.ts";
import { InvalidUserName, UnknownUser } from "../../system-errors.ts";
import type { Owner } from "./replace-file.ts";

export interface Account extends Owner {
  readonly name: string;
  readonly home: string;
}

/** Users that an ssh session may create and remove. Nothing else is ever created or removed. */
export const EPHEMERAL_PREFIX = "bosh_";

/** A name that could be an option, a path or two fields of a password file must not reach any program. */
export function checkUserName(name: string, what: string): void {
  if (!/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/.test(name)) throw InvalidUserName({ what });
}

export function checkSshUserName(name: string): void {
  if (!/^bosh_[A-Za-z0-9_-]{1,32}$/.test(name)) throw InvalidUserName({ what: "an ssh session" });
}

export async function accounts(paths: Paths): Promise<readonly Account[]> {
  return (await rows(paths, "passwd")).flatMap(([name, , uid, gid, , home]): Account[] =>
    name === undefined || home === undefined ? [] : [{ name, uid: Number(uid), gid: Number(gid), home }],
  );
}

export async function accountOf(paths: Paths, user: string): Promise<Account> {
  const account = (await accounts(paths)).find(({ name }) => name === user);
  if (account === undefined) throw UnknownUser({ user });
  return account;
}

export async function groups(paths: Paths): Promise<ReadonlyMap<string, number>> {
  return new Map((await rows(paths, "group")).map(([name = "", , gid]) => [name, Number(gid)]));
}

/** Owner by `user` (with that user's own group) or `user:group`. */
export async function ownerOf(paths: Paths, spec: string): Promise<Owner> {
  const [user = "", group] = spec.split(":");
  const account = await accountOf(paths, user);
  if (group === undefined) return { uid: account.uid, gid: account.gid };
  const gid = (await groups(paths)).get(group);
  if (gid === undefined) throw UnknownUser({ user: group });
  return { uid: account.uid, gid };
}

async function rows(paths: Paths, file: "passwd" | "group"): Promise<readonly (readonly string[])[]> {
  const text = await readFile(paths.system("etc", file), "utf8");
  return text
    .split("\n")
    .filter((row) => row !== "" && !row.startsWith("#"))
    .map((row) => row.split(":"));
}
