import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StemcellNotWritten } from "./errors.ts";

/** A directory beside a file that is to be written, for as long as `use` takes. */
export async function withWorkDir<T>(to: string, use: (workDir: string) => Promise<T>): Promise<T> {
  const workDir = await mkdtemp(join(dirname(to), ".slipway-root-")).catch((cause: unknown) => {
    throw StemcellNotWritten({ file: to, why: "nothing can be made in its directory" }, { cause });
  });
  try {
    // apt downloads as a user of its own.
    await chmod(workDir, 0o711);
    return await use(workDir);
  } finally {
    // Whatever is mounted in there belongs to the machine, and would be emptied.
    if (!(await hasMounts(workDir))) await rm(workDir, { recursive: true, force: true });
  }
}

async function hasMounts(workDir: string): Promise<boolean> {
  const mounts = await readFile("/proc/self/mountinfo", "utf8").catch(() => "");
  const within = `${workDir.replaceAll(" ", "\\040")}/`;
  return mounts.split("\n").some((line) => line.split(" ")[4]?.startsWith(within));
}
