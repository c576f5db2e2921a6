import { type ChildProcess, spawn } from "node:child_process";
import type { Programs } from "./programs.ts";
import type { ServerUser } from "./user.ts";

/** Starts one of the server's programs as its user, in a session of its own: a Ctrl-C is for the Director only. */
export function spawnAs(
  programs: Programs,
  user: ServerUser | undefined,
  program: string,
  args: readonly string[],
  output: "pipe" | number,
  input: "pipe" | "ignore" = "ignore",
): ChildProcess {
  return spawn(program, args, {
    ...(user !== undefined && { uid: user.uid, gid: user.gid }),
    cwd: "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", TZ: "UTC", ...programs.env },
    detached: true,
    stdio: [input, output, output],
  });
}
