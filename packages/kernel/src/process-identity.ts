import { readFileSync, readlinkSync } from "node:fs";
import { systemCode } from "./errors.ts";

/** Names one process for as long as the machine is up, and says after a reboot that it is gone. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks after boot at which it started; tells a reused pid from its first bearer. Empty where unknown. */
  readonly started: string;
  readonly boot: string;
  /** Pid namespace; in another one a pid means another process. */
  readonly namespace: string;
}

export type Liveness = "alive" | "dead" | "unknown";

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
};

const link = (path: string): string => {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
};

/** State and start time from /proc/PID/stat; the command name before them may hold spaces and parentheses. */
function stat(pid: number): { state: string; started: string } | undefined {
  const text = read(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return text === "" ? undefined : { state: fields[0] ?? "", started: fields[19] ?? "" };
}

export const ownIdentity = (): ProcessIdentity => identityOf(process.pid);

/** Returns the identity of a process in this pid namespace. */
export function identityOf(pid: number): ProcessIdentity {
  return {
    pid,
    started: stat(pid)?.started ?? "",
    boot: read("/proc/sys/kernel/random/boot_id"),
    namespace: link("/proc/self/ns/pid"),
  };
}

export function lifeOf(who: ProcessIdentity, self: ProcessIdentity): Liveness {
  if (who.boot !== self.boot) return "dead";
  if (who.namespace !== self.namespace) return "unknown";
  try {
    process.kill(who.pid, 0);
  } catch (error) {
    if (systemCode(error) === "ESRCH") return "dead";
  }
  const seen = stat(who.pid);
  // It exists, and /proc does not tell: another user's process under hidepid, or one that ends right now.
  if (seen === undefined) return "alive";
  if (seen.state === "Z" || seen.state === "X") return "dead";
  return seen.started === who.started ? "alive" : "dead";
}
