import { readFileSync, readlinkSync } from "node:fs";
import type { LocalTools } from "./local-cloud.ts";

/** Run with the rights that a sandbox of this user has over its own files. */
export type NamespaceCommand = readonly [program: string, ...args: string[]];

const USER = ["--user", "--map-root-user"];
const USERS = [...USER, "--map-auto"];

/**
 * The user namespace of an ordinary user's sandboxes: all ids of a range where the user has one and `newuidmap` gives
 * it out, else root alone. Root needs none.
 */
export async function userFlags({ exec, isRoot }: Pick<LocalTools, "exec" | "isRoot">): Promise<string[]> {
  if (isRoot) return [];
  const range = await exec("sh", ["-c", "command -v newuidmap"]);
  if (range.code !== 0) return USER;
  const tried = await exec("unshare", [...USERS, "true"]);
  return tried.code === 0 ? USERS : USER;
}

/** A command over files of a sandbox, whose owners and rights may be those of its users. */
export async function asOwner(tools: LocalTools, command: NamespaceCommand): Promise<NamespaceCommand> {
  if (tools.isRoot) return command;
  return ["unshare", ...(await userFlags(tools)), "--", ...command];
}

/** Makes a command run in the outer mounts of a running sandbox: the host's, and the sandbox's disks, not seen elsewhere. */
export function inOuterMounts(pid: number, isRoot: boolean, command: NamespaceCommand): NamespaceCommand {
  const keeper = keeperOf(pid);
  // The sandbox has another one of its own, which has no say in the outer mounts.
  const user = isRoot ? [] : ["--preserve-credentials", `--user=/proc/${keeper?.pid ?? pid}/ns/user`];
  // One that was started by an earlier version keeps them itself.
  const mounts = keeper === undefined ? `/proc/${pid}/fd/9` : `/proc/${keeper.pid}/ns/mnt`;
  return ["nsenter", ...user, `--mount=${mounts}`, "--", ...command];
}

export interface Keeper {
  readonly pid: number;
  readonly mounts: string;
}

/** The process that keeps the outer mounts of a sandbox: the parent of its init, unless that one was killed. */
export function keeperOf(init: number): Keeper | undefined {
  const stat = readOr(() => readFileSync(`/proc/${init}/stat`, "utf8"));
  const pid = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? 0);
  const mounts = mountsOf(pid);
  // The process that adopts an orphan has the host's mounts.
  return mounts === "" || mounts === mountsOf("self") ? undefined : { pid, mounts };
}

export const isThere = ({ pid, mounts }: Keeper): boolean => mountsOf(pid) === mounts;

const mountsOf = (pid: number | "self"): string => readOr(() => readlinkSync(`/proc/${pid}/ns/mnt`));

function readOr(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
