import { readdirSync, rmSync, statSync } from "node:fs";
import promises from "node:fs/promises";
import { join } from "node:path";

/** Moment at which the process dies: before, after or during its n-th operation that changes a file. */
export interface KillPoint {
  readonly when: "before" | "after" | "during";
  readonly at: number;
}

const OPERATIONS = [
  "rename",
  "symlink",
  "link",
  "unlink",
  "rm",
  "rmdir",
  "mkdir",
  "chmod",
  "lchown",
  "copyFile",
  "writeFile",
] as const;
const OF_HANDLES = ["writeFile", "write", "sync", "chmod", "chown"] as const;

type Operation = (...args: unknown[]) => Promise<unknown>;

/**
 * From now on operations below this directory are counted, and at the chosen one this process is killed with -9, as an
 * agent is. Resolves to what says which there were.
 */
export async function killAtOperation(
  base: string,
  death: KillPoint | undefined,
): Promise<() => readonly string[]> {
  const seen: string[] = [];
  const counted = async (name: string, path: string, work: () => Promise<unknown>): Promise<unknown> => {
    if (!path.startsWith(base)) return await work();
    seen.push(`${name} ${path.slice(base.length)}`);
    const mine = death?.at === seen.length;
    if (mine && death.when === "before") die();
    if (mine && death.when === "during") {
      if (name === "rm") removeOne(path);
      die();
    }
    try {
      return await work();
    } finally {
      // An operation that fails is one, too.
      if (mine && death.when === "after") die();
    }
  };
  const patched = promises as unknown as Record<string, Operation>;
  for (const name of OPERATIONS) {
    const real = patched[name] as Operation;
    // The last path is the one that changes.
    const at = ["rename", "symlink", "link", "copyFile"].includes(name) ? 1 : 0;
    patched[name] = (...args) => counted(name, String(args[at]), () => real(...args));
  }
  const open = patched.open as Operation;
  patched.open = async (...args) => {
    const path = String(args[0]);
    const changes = args[1] !== "r" && args[1] !== 0 && args[1] !== undefined;
    const handle = await (changes ? counted("open", path, () => open(...args)) : open(...args));
    const own = handle as Record<string, Operation>;
    for (const name of OF_HANDLES) {
      const real = (own[name] as Operation).bind(handle);
      own[name] = (...inner) => counted(name, path, () => real(...inner));
    }
    return handle;
  };
  return () => seen;
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("a dead process does nothing");
}

/** Removes one file of a directory, as an interrupted removal does. */
function removeOne(path: string): void {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true }))
    if (!entry.isDirectory()) {
      rmSync(join(entry.parentPath, entry.name));
      return;
    }
}
