import { join } from "node:path";
import { uploadReleaseDirectory, writeRelease } from "./release-dir.ts";
import type { BoshWorld } from "./world.ts";

/** A release of these files, made and uploaded with the CLI as its author does. */
export async function uploadRelease(
  world: BoshWorld,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const dir = join(world.dir, name);
  await writeRelease(dir, files);
  await uploadReleaseDirectory(world, dir);
}
