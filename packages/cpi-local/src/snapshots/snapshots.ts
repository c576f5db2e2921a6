import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { messageTrail } from "@slipway/kernel/errors";
import { mustRun } from "@slipway/kernel/exec";
import { exists } from "@slipway/kernel/files";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { type Cloud, place, placeOf } from "../cloud.ts";
import { contentOf, imageOf, kindOfDisk, mustHaveDisk, withDisk } from "../disks/disks.ts";
import { mountAt } from "../disks/mounts.ts";
import { DiskCommandFailed } from "../errors.ts";
import { discard, PARTIAL } from "../files.ts";
import { asOwner, type Command, inOuterMounts } from "../namespaces.ts";
import { runningIn } from "../sandbox/identity.ts";
import { vmDir } from "../vm-record.ts";
import { holderOf } from "../vms/attachments.ts";

const snapshotDir = (cloud: Cloud, cid: string): string => placeOf(cloud, "snapshots", cid);

/** As little room and time as the host's file system allows. */
const COPY = ["cp", "-a", "--reflink=auto", "--sparse=always"] as const;

/** A mounted file system stands still while its file is copied, and goes on whatever becomes of the copy. */
const COPY_STILL = `trap 'fsfreeze --unfreeze "$1"' EXIT
fsfreeze --freeze "$1" && cp -a --reflink=auto --sparse=always "$2" "$3"`;

export async function createSnapshot(
  cloud: Cloud,
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
export const removeSnapshot = (cloud: Cloud, cid: string): Promise<void> =>
  discard(cloud, snapshotDir(cloud, cid));

async function copyDisk(cloud: Cloud, disk: string, to: string): Promise<void> {
  const [program, ...args] = await copyCommand(cloud, disk, to);
  // Without a signal: a copy that is killed would leave the file system standing still.
  await mustRun(cloud.exec, "copying", program, args).catch((cause: unknown) => {
    throw DiskCommandFailed({ disk, doing: "taking a snapshot", said: messageTrail(cause) }, { cause });
  });
}

async function copyCommand(cloud: Cloud, disk: string, to: string): Promise<Command> {
  if ((await kindOfDisk(cloud, disk)) === "directory")
    return await asOwner(cloud, [...COPY, contentOf(cloud, disk), join(to, "content")]);
  const image = imageOf(cloud, disk);
  const copy = join(to, "image");
  const holder = await holderOf(cloud, disk);
  const init = holder === undefined ? undefined : await runningIn(vmDir(cloud, holder));
  if (holder === undefined || init === undefined) return [...COPY, image, copy];
  const hot = join(vmDir(cloud, holder), "hot", place(disk));
  const [program, ...args] = inOuterMounts(init.pid, cloud.isRoot, ["cat", "/proc/self/mountinfo"]);
  const table = await mustRun(cloud.exec, "looking at the mounts", program, args);
  if (mountAt(table.stdout, hot) === undefined) return [...COPY, image, copy];
  return inOuterMounts(init.pid, cloud.isRoot, ["sh", "-c", COPY_STILL, "sh", hot, image, copy]);
}
