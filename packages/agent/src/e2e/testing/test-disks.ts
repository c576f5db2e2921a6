import { mkdir, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { Sandbox } from "@slipway/testkit/sandbox";
import { treeHash } from "./tree.ts";

/** A disk an IaaS could attach. */
export interface TestDisk {
  readonly cid: string;
  readonly hint: { readonly path: string };
  /** Hashes the content of the disk, read without the agent. */
  hash(): Promise<string>;
  remove(): Promise<void>;
}

export type DiskKind = "directories" | "loop devices";

/** Makes disks of one kind: empty ones, and copies of a filled one that is made once. */
export interface DiskShop {
  empty(dir: string, cid: string): Promise<TestDisk>;
  filled(dir: string, cid: string): Promise<TestDisk>;
  /** Hash of the content of every filled disk. */
  readonly hash: string;
}

export async function diskShop(
  kind: DiskKind,
  dir: string,
  fill: (directory: string) => Promise<void>,
): Promise<DiskShop> {
  const template = join(dir, kind === "directories" ? "template" : "template.img");
  const make = kind === "directories" ? directoryDisk : loopDisk;
  if (kind === "directories") {
    await mkdir(template);
    await fill(template);
  } else {
    await writeFile(template, "");
    await truncate(template, IMAGE_BYTES);
    await must("mke2fs", "-q", "-F", "-t", "ext4", template);
  }
  if (kind === "loop devices") {
    const first = await loopDisk(dir, "first", template);
    await looking(first.hint.path, [], join(dir, "filled"), fill);
    await must("cp", "--sparse=always", join(dir, "first.img"), template);
    await first.remove();
  }
  const sample = await make(dir, "sample", template);
  const hash = await sample.hash();
  await sample.remove();
  return {
    hash,
    empty: (where, cid) => make(where, cid),
    filled: (where, cid) => make(where, cid, template),
  };
}

async function directoryDisk(dir: string, cid: string, template?: string): Promise<TestDisk> {
  const path = join(dir, cid);
  await mkdir(path);
  if (template !== undefined) await must("cp", "-a", `${template}/.`, path);
  return {
    cid,
    hint: { path },
    hash: async () => treeHash(path),
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

const IMAGE_BYTES = 32 << 20;

/** A file behind a loop device; zeros without a template. */
async function loopDisk(dir: string, cid: string, template?: string): Promise<TestDisk> {
  const image = join(dir, `${cid}.img`);
  if (template !== undefined) await must("cp", "--sparse=always", template, image);
  else await writeFile(image, "");
  await truncate(image, IMAGE_BYTES);
  const device = (await must("losetup", "--find", "--show", "--nooverlap", image)).trim();
  return {
    cid,
    hint: { path: device },
    hash: () => looking(device, ["-o", "ro"], join(dir, `${cid}-looked-at`), async (seen) => treeHash(seen)),
    remove: async () => {
      await must("losetup", "--detach", device);
      await rm(image, { force: true });
    },
  };
}

/** Mounts a device in a private namespace. */
async function looking<T>(
  device: string,
  flags: readonly string[],
  target: string,
  look: (directory: string) => Promise<T>,
): Promise<T> {
  await mkdir(target, { recursive: true });
  const sandbox = await Sandbox.open();
  try {
    await sandbox.run("mount", ...flags, device, target);
    const result = await look(sandbox.path(target));
    // Explicitly: what a sandbox has mounted goes some time after its last process.
    await sandbox.run("umount", target);
    return result;
  } finally {
    await sandbox.close();
  }
}

async function must(program: string, ...args: readonly string[]): Promise<string> {
  const result = await systemExec(program, args);
  if (result.code !== 0) throw new Error(`${program} ${args.join(" ")}: ${result.code} ${result.stderr}`);
  return result.stdout;
}
