import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileDigest } from "@slipway/engine/stemcells/digest";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import { type Exec, mustRun } from "@slipway/kernel/exec";
import { archiveKind } from "@slipway/kernel/tar/file";
import { NoRoot } from "./errors.ts";

export interface ImageFile {
  readonly path: string;
  readonly sha1: string;
  /** Removes what was made on the way. */
  done(): Promise<void>;
}

/**
 * A root file system as an image: a tar as it is, a directory as a gzipped tar whose bytes depend on the files alone.
 * `beside`: a directory with enough free space.
 */
export async function rootImage(root: string, beside: string, exec: Exec): Promise<ImageFile> {
  const found = await stat(root).catch((cause: unknown) => {
    throw NoRoot({ path: root, why: reason(cause) }, { cause });
  });
  if (found.isDirectory()) return await packed(root, beside, exec);
  if (!found.isFile() || !(await isTar(root))) throw NoRoot({ path: root, why: "it is no tar" });
  return { path: root, sha1: await fileDigest(root, "sha1"), done: async () => undefined };
}

/** Packs a live directory with the system's tar, which handles owners, devices, hard links and attributes. */
async function packed(root: string, beside: string, exec: Exec): Promise<ImageFile> {
  const dir = await mkdtemp(join(dirname(beside), ".slipway-root-"));
  const done = () => rm(dir, { recursive: true, force: true });
  try {
    const path = join(dir, "image");
    const flags = ["--sort=name", "--mtime=@0", "--numeric-owner", "--one-file-system"];
    // Through gzip itself: with -z tar lets it write the time.
    const gzip = ["--use-compress-program=gzip -n"];
    await mustRun(exec, `packing ${root}`, "tar", ["-c", ...flags, ...gzip, "-f", path, "-C", root, "."]);
    return { path, sha1: await fileDigest(path, "sha1"), done };
  } catch (cause) {
    await done();
    throw NoRoot({ path: root, why: messageTrail(cause) }, { cause });
  }
}

async function isTar(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const { buffer } = await file.read(Buffer.alloc(512), 0, 512, 0);
    return archiveKind(buffer) !== undefined;
  } finally {
    await file.close();
  }
}

const reason = (error: unknown): string =>
  systemCode(error) === "ENOENT" ? "it does not exist" : messageTrail(error);
