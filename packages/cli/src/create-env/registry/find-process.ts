import { readdir, readFile } from "node:fs/promises";

/**
 * Finds the processes that were started with this argument, by their command lines. Nothing has to be recorded when one is
 * started, so no crash can lose sight of it.
 */
export async function processesWith(argument: string): Promise<readonly number[]> {
  const names = await readdir("/proc").catch(() => []);
  const found = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => {
        // One that ends in this moment has none.
        const line = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
        return line.split("\0").includes(argument) ? [Number(name)] : [];
      }),
  );
  return found.flat();
}
