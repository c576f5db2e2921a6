import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import type { BoshWorld } from "./world.ts";

/** A release directory as an author has it. */
export async function writeRelease(dir: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(dir, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    await chmod(path, 0o644);
  }
}

/** Uploads the release that `create-release` makes of a directory. */
export async function uploadReleaseDirectory(world: BoshWorld, dir: string): Promise<void> {
  const file = `${dir}.tgz`;
  const made = await systemExec(
    process.env.SLIPWAY_BOSH ?? "",
    ["create-release", "--force", "--tarball", file, "--dir", dir],
    { env: { HOME: join(world.dir, "home"), PATH: process.env.PATH ?? "" } },
  );
  if (made.code !== 0) throw new Error(made.stdout + made.stderr);
  await world.bosh.run("upload-release", file);
}
