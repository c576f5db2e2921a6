import type { Tools } from "./cloud.ts";

/** Run with the rights that a sandbox of this user has over its own files. */
export type Command = readonly [program: string, ...args: string[]];

const USER = ["--user", "--map-root-user"];
const USERS = [...USER, "--map-auto"];

/**
 * The user namespace of an ordinary user's sandboxes: all ids of a range where the user has one and `newuidmap` gives
 * it out, else root alone. Root needs none.
 */
export async function userFlags({ exec, isRoot }: Pick<Tools, "exec" | "isRoot">): Promise<string[]> {
  if (isRoot) return [];
  const range = await exec("sh", ["-c", "command -v newuidmap"]);
  if (range.code !== 0) return USER;
  const tried = await exec("unshare", [...USERS, "true"]);
  return tried.code === 0 ? USERS : USER;
}

/** A command over files of a sandbox, whose owners and rights may be those of its users. */
export async function asOwner(tools: Tools, command: Command): Promise<Command> {
  if (tools.isRoot) return command;
  return ["unshare", ...(await userFlags(tools)), "--", ...command];
}

/** A command in the outer mounts of a running sandbox: the host's, and the sandbox's disks, seen by nobody else. */
export function inOuterMounts(pid: number, isRoot: boolean, command: Command): Command {
  const user = isRoot ? [] : ["--preserve-credentials", `--user=/proc/${pid}/ns/user`];
  return ["nsenter", ...user, `--mount=/proc/${pid}/fd/9`, "--", ...command];
}
