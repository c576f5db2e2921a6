import { mkdir } from "node:fs/promises";
import { mustRun } from "@slipway/kernel/exec";
import { MountConflict } from "../../disk-errors.ts";
import type { DiskContext } from "./context.ts";
import { makeWritable } from "./mounting.ts";
import { inode, mountAt, mountTable } from "./mounts.ts";

/** Options of a single mount. All others belong to the file system below, which is not ours. */
const MOUNT_FLAGS = new Set(["ro", "nosuid", "nodev", "noexec", "noatime", "nodiratime", "relatime"]);

/** Binds a directory. Bound there already is success; anything else there is not covered up. */
export async function bindDirectory(
  context: DiskContext,
  source: string,
  target: string,
  options: readonly string[],
): Promise<void> {
  const there = mountAt(await mountTable(context.paths), target);
  const same = (await inode(source)) === (await inode(target));
  if (there === undefined) {
    await mkdir(target, { recursive: true, mode: 0o700 });
    await mustRun(context.exec, `binding ${source} to ${target}`, "mount", ["--bind", source, target]);
    if ((await inode(source)) !== (await inode(target))) {
      throw MountConflict({ source, target, found: "another directory is seen there after mounting" });
    }
  } else if (!same) {
    throw MountConflict({ source, target, found: `${there.source}${there.root} is mounted there` });
  }
  await setFlags(context, source, target, options);
}

/** Sets what is missing of these flags, on this mount alone. */
export async function setFlags(
  context: DiskContext,
  source: string,
  target: string,
  options: readonly string[],
): Promise<void> {
  const asked = options.flatMap((option) => option.split(",")).filter((option) => option !== "");
  const ignored = asked.filter((option) => !MOUNT_FLAGS.has(option));
  if (ignored.length > 0) {
    context.log.warn(`mount options ${ignored.join(", ")} mean nothing for a directory and are left out`);
  }
  const there = mountAt(await mountTable(context.paths), target);
  const current = there?.options ?? [];
  const missing = asked.filter((option) => MOUNT_FLAGS.has(option) && !current.includes(option));
  const unwanted = there?.readOnly === true && !asked.includes("ro");
  if (missing.length === 0 && !unwanted) return;
  // Flags from outside a user namespace are locked: they have to be repeated.
  const kept = current.filter((option) => MOUNT_FLAGS.has(option) && !["relatime", "ro"].includes(option));
  const flags = ["remount", "bind", unwanted ? "rw" : "", ...new Set([...kept, ...missing])].filter(
    (flag) => flag !== "",
  );
  if (unwanted) return makeWritable(context, source, target, flags);
  await mustRun(context.exec, `setting ${missing.join(",")} on ${target}`, "mount", [
    "-o",
    flags.join(","),
    target,
  ]);
}

/** Only part of a file system is seen there, or the file system of a device that we did not mount. */
export async function isBindMount(context: DiskContext, target: string): Promise<boolean> {
  const table = await mountTable(context.paths);
  const there = mountAt(table, target);
  if (there === undefined) return false;
  return (
    there.root !== "/" || table.some((other) => other.number === there.number && other.target !== target)
  );
}
