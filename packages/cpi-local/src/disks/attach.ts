import { mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { cloudError, diskNotAttached } from "@slipway/cpi-sdk/errors";
import { systemCode } from "@slipway/kernel/errors";
import { DiskInUse } from "../errors.ts";
import { directoryOf, type LocalCloud, place } from "../local-cloud.ts";
import { inOuterMounts, type NamespaceCommand } from "../namespaces.ts";
import { runningIn } from "../sandbox/identity.ts";
import { ATTACH } from "../sandbox/scripts.ts";
import { vmDir } from "../vm-record.ts";
import { forgetDisk, hasNote, holderOf, noteDisk } from "../vms/attachments.ts";
import { fillHoles } from "./allocate.ts";
import { hasDisk, imageOf, kindOfDisk, mustHaveDisk, provisioningOf, sizeOf } from "./disks.ts";
import { keepSpace, mustBeLetGo } from "./image.ts";
import { type MountEntry, mountAt, otherMountsOf, readMounts } from "./mounts.ts";
import { runOn } from "./run-on.ts";

/** Returns where the sandbox sees the disk. `mounted` is a text: agents take hints with texts only. */
export const hintOf = (disk: string) => ({ path: `/var/vcap/disks/${place(disk)}`, mounted: "true" });

/** Puts a disk into a running sandbox, or notes it for the next start. Attached there already is success. */
export async function attachDisk(cloud: LocalCloud, vm: string, disk: string): Promise<void> {
  await mustHaveDisk(cloud, disk);
  const holder = await holderOf(cloud, disk);
  if (holder !== undefined && holder !== place(vm))
    throw cloudError(`disk '${disk}' is attached to '${holder}'`);
  const dir = vmDir(cloud, vm);
  const init = await runningIn(dir);
  const isThere = async () =>
    init !== undefined && (await mountedIn(cloud, init.pid, dir, disk)) !== undefined;
  const kind = await kindOfDisk(cloud, disk);
  // What has no loop device, or was never noted, is not mounted in there.
  const isNew =
    kind === "loop"
      ? await mustBeLetGo(cloud, disk, imageOf(cloud, disk), isThere)
      : !(await hasNote(cloud, vm, disk));
  const preallocated = (await provisioningOf(cloud, disk)) === "preallocated";
  if (isNew && preallocated) await fillHoles(cloud, disk, imageOf(cloud, disk), await sizeOf(cloud, disk));
  await noteDisk(cloud, vm, disk);
  if (init === undefined) return;
  const at = join(dir, "hot", place(disk));
  const args = [directoryOf(cloud, "disks"), dir, place(disk), String(init.pid)];
  const put: NamespaceCommand = ["sh", "-c", ATTACH, "sh", ...args];
  try {
    await mkdir(at, { recursive: true });
    await outside(cloud, init.pid, disk, "putting it into the sandbox", put);
    if (preallocated) await keepSpace(imageOf(cloud, disk));
  } catch (error) {
    await forgetDisk(cloud, vm, disk);
    throw error;
  }
}

/** Takes a disk out of a sandbox, unless something in there still uses it. */
export async function detachDisk(cloud: LocalCloud, vm: string, disk: string): Promise<void> {
  if (!(await hasNote(cloud, vm, disk))) {
    await mustHaveDisk(cloud, disk);
    throw diskNotAttached(vm, disk);
  }
  const dir = vmDir(cloud, vm);
  const init = await runningIn(dir);
  if (init !== undefined) await takeOut(cloud, init.pid, vm, disk);
  // Files that were written there while no disk was mounted are not ours to remove.
  await rmdir(join(dir, "hot", place(disk))).catch((error: unknown) => {
    if (!["ENOENT", "ENOTEMPTY"].includes(systemCode(error) ?? "")) throw error;
  });
  await forgetDisk(cloud, vm, disk);
  // A loop device goes with its last mount; another VM must not find it.
  if ((await hasDisk(cloud, disk)) && (await kindOfDisk(cloud, disk)) === "loop")
    await mustBeLetGo(cloud, disk, imageOf(cloud, disk));
}

/** How long a process that was just ended may take to let go of its mounts and files. */
const LET_GO_WITHIN_MS = 5_000;

async function takeOut(cloud: LocalCloud, pid: number, vm: string, disk: string): Promise<void> {
  const since = cloud.clock.monotonic();
  // More than once if two calls put it there at the same time.
  for (let wait = 20; ; wait = Math.min(wait * 2, 250)) {
    const here = await mountedIn(cloud, pid, vmDir(cloud, vm), disk);
    if (here === undefined) return;
    const why = await unmountedOrWhyNot(cloud, pid, disk, here);
    if (why === undefined) continue;
    if (cloud.clock.monotonic() - since > LET_GO_WITHIN_MS) throw DiskInUse({ disk, vm, why });
    await cloud.clock.sleep(wait);
  }
}

async function unmountedOrWhyNot(
  cloud: LocalCloud,
  pid: number,
  disk: string,
  here: MountEntry,
): Promise<string | undefined> {
  const others = otherMountsOf(await readMounts(`/proc/${pid}/mountinfo`), here, hintOf(disk).path);
  if (others.length > 0)
    return `it is still mounted in there, at ${others.map(({ target }) => target).join(", ")}`;
  const [program, ...args] = inOuterMounts(pid, cloud.isRoot, ["umount", "-n", here.target]);
  const done = await cloud.exec(program, args);
  return done.code === 0 ? undefined : done.stderr.trim().slice(-300);
}

/** Its mount in the outer mounts of a running sandbox. */
async function mountedIn(cloud: LocalCloud, pid: number, dir: string, disk: string) {
  const table = await outside(cloud, pid, disk, "looking at the mounts", ["cat", "/proc/self/mountinfo"]);
  return mountAt(table, join(dir, "hot", place(disk)));
}

const outside = (
  cloud: LocalCloud,
  pid: number,
  disk: string,
  doing: string,
  command: NamespaceCommand,
): Promise<string> => runOn(cloud, disk, doing, inOuterMounts(pid, cloud.isRoot, command));
