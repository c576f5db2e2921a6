import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageTrail } from "@slipway/kernel/errors";
import { mustRun } from "@slipway/kernel/exec";
import { exists } from "@slipway/kernel/files";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { contentOf, imageOf, kindOfDisk, mustHaveDisk, provisioningOf, withDisk } from "../disks/disks.ts";
import { mountAt } from "../disks/mounts.ts";
import { DiskCommandFailed } from "../errors.ts";
import { discard, PARTIAL } from "../files.ts";
import { type LocalCloud, place, placeOf } from "../local-cloud.ts";
import { asOwner, inOuterMounts, type NamespaceCommand } from "../namespaces.ts";
import { runningIn } from "../sandbox/identity.ts";
import { vmDir } from "../vm-record.ts";
import { holderOf } from "../vms/attachments.ts";

const snapshotDir = (cloud: LocalCloud, cid: string): string => placeOf(cloud, "snapshots", cid);

/**
 * Copies with as little room and time as the host's file system allows. Blocks that a copy shares with a disk must be
 * allocated again when the disk is written to; a disk with preallocated space shares nothing.
 */
const copy = (reflink: "auto" | "never") => ["cp", "-a", `--reflink=${reflink}`, "--sparse=always"] as const;

/** A mounted file system stands still while its file is copied, and goes on whatever becomes of the copy. */
const COPY_STILL = `still=$1
shift
trap 'fsfreeze --unfreeze "$still"' EXIT
fsfreeze --freeze "$still" && "$@"`;

export async function createSnapshot(
  cloud: LocalCloud,
  cid: string,
  disk: string,
  metadata: JsonObject,
): Promise<string> {
  const path = snapshotDir(cloud, cid);
  return await withDisk(cloud, disk, async () => {
    await mustHaveDisk(cloud, disk);
    if (await exists(path)) return cid;
    await discard(cloud, path);
    const partial = `${path}${PARTIAL}`;
    try {
      await mkdir(partial, { recursive: true, mode: 0o700 });
      await writeFile(join(partial, "metadata.json"), JSON.stringify({ disk, ...metadata }), { mode: 0o600 });
      await copyDisk(cloud, disk, partial);
      await rename(partial, path);
    } catch (error) {
      await discard(cloud, path);
      throw error;
    }
    return cid;
  });
}

/** Removing one that is not there is success. */
export const removeSnapshot = (cloud: LocalCloud, cid: string): Promise<void> =>
  discard(cloud, snapshotDir(cloud, cid));

async function copyDisk(cloud: LocalCloud, disk: string, to: string): Promise<void> {
  const [program, ...args] = await copyCommand(cloud, disk, to);
  // Without a signal: a copy that is killed would leave the file system standing still.
  await mustRun(cloud.exec, "copying", program, args).catch((cause: unknown) => {
    throw DiskCommandFailed({ disk, doing: "taking a snapshot", said: messageTrail(cause) }, { cause });
  });
}

async function copyCommand(cloud: LocalCloud, disk: string, to: string): Promise<NamespaceCommand> {
  if ((await kindOfDisk(cloud, disk)) === "directory")
    return await asOwner(cloud, [...copy("auto"), contentOf(cloud, disk), join(to, "content")]);
  const reflink = (await provisioningOf(cloud, disk)) === "thin" ? "auto" : "never";
  const command: NamespaceCommand = [...copy(reflink), imageOf(cloud, disk), join(to, "image")];
  const holder = await holderOf(cloud, disk);
  const init = holder === undefined ? undefined : await runningIn(vmDir(cloud, holder));
  if (holder === undefined || init === undefined) return command;
  const hot = join(vmDir(cloud, holder), "hot", place(disk));
  const [program, ...args] = inOuterMounts(init.pid, cloud.isRoot, ["cat", "/proc/self/mountinfo"]);
  const table = await mustRun(cloud.exec, "looking at the mounts", program, args);
  if (mountAt(table.stdout, hot) === undefined) return command;
  return inOuterMounts(init.pid, cloud.isRoot, ["sh", "-c", COPY_STILL, "sh", hot, ...command]);
}
