import { mkdir, readdir, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { mustRun, systemExec } from "@slipway/kernel/exec";
import { eventually } from "./eventually.ts";
import { passableDirectory } from "./temporary.ts";

/** A file system of a test's own that can be filled. Needs root. What it has is in one file, which takes little itself. */
export class SmallDisk {
  readonly dir: string;
  readonly #around: string;

  private constructor(around: string) {
    this.#around = around;
    this.dir = join(around, "disk");
  }

  static async open(mib: number): Promise<SmallDisk> {
    const around = await passableDirectory("small");
    const file = join(around, "file");
    const disk = new SmallDisk(around);
    await mkdir(disk.dir);
    await mustRun(systemExec, "making a small disk", "truncate", ["-s", `${mib}M`, file]);
    await mustRun(systemExec, "making a small disk", "mkfs.ext4", ["-q", "-F", "-m", "0", file]);
    await mustRun(systemExec, "making a small disk", "mount", ["-o", "loop", file, disk.dir]);
    return disk;
  }

  /**
   * Takes all the space there is but so much, in one go: a file that grows slowly would also take what is given back
   * meanwhile.
   */
  async fill(name: string, leave = 0): Promise<void> {
    const path = join(this.dir, name);
    await eventually("a full disk", async () => {
      const { bavail, bsize } = await statfs(this.dir);
      if (bavail * bsize <= leave) return true;
      // At its end: what it has is no more to be had. Refused when somebody else was faster.
      const { size } = await stat(path).catch(() => ({ size: 0 }));
      await systemExec("fallocate", ["-o", String(size), "-l", String(bavail * bsize - leave), path]);
      return undefined;
    });
  }

  /** Removes what it was filled with: all but these. */
  async free(...kept: readonly string[]): Promise<void> {
    for (const name of await readdir(this.dir))
      if (![...kept, "lost+found"].includes(name)) await rm(join(this.dir, name));
  }

  async close(): Promise<void> {
    // Sandboxes of other tests have a copy of every mount for a moment.
    await mustRun(systemExec, "taking a small disk away", "umount", ["--lazy", this.dir]);
    await rm(this.#around, { recursive: true, force: true, maxRetries: 5 });
  }
}
