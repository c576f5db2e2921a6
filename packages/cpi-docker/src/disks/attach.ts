import { cloudError, vmNotFound } from "@slipway/cpi-sdk/errors";
import { type DockerCloudContext, isPlain } from "../cloud-context.ts";
import { DiskCommandFailed, DiskInUse } from "../errors.ts";
import { diskCommand, diskMark, nodeOf } from "../upstream/scripts.ts";
import { type Container, findVm, mustFindVm } from "../vms/containers.ts";
import { hasUpstreamAgent, inVm, putIntoVm } from "../vms/inside-vm.ts";
import { DiskHelper } from "./disk-helper.ts";
import { onDisk, settle, tryOnDisk } from "./disks.ts";
import { ATTACH, DETACH, HELD, RELEASE } from "./scripts/attach.ts";
import { ENDED } from "./scripts/common.ts";

/**
 * The path for agents that go by paths, and the id as the proof: the file behind the loop device is named after it. Not
 * the device's number, which is another one after a restart of the host.
 */
export const hintOf = (disk: string) => ({ path: nodeOf(disk), id: disk });

/** Makes the node of a disk. Most often there is no older node to replace. */
const MAKE_NODE = `set -eu
new=$1.new
[ -e "$1" ] || [ -L "$1" ] || new=$1
[ ! -e "$new" ] || rm -f "$new"
mknod -m 0600 "$new" b "$2" "$3"
[ "$new" = "$1" ] || mv -f "$new" "$1"`;

/** Gives a disk to a VM, running or not. The same VM has it already: success. */
export async function attachDisk(cloud: DockerCloudContext, vm: string, disk: string): Promise<void> {
  const { found, number } = await claimed(cloud, vm, disk);
  const upstream = hasUpstreamAgent(found);
  const [, major, minor] = /^(\d+):(\d+)$/.exec(number) ?? [];
  if (major === undefined || minor === undefined)
    throw DiskCommandFailed({ disk, doing: "making its loop device", said: `its number is ${number}` });
  if (upstream) await mark(cloud, vm, found, disk, true);
  const makeNode = upstream ? diskCommand(disk) : { script: MAKE_NODE, args: [nodeOf(disk), major, minor] };
  const ran = await inVm(cloud, vm, makeNode);
  if (ran === "gone") {
    await detach(cloud, vm, disk);
    throw vmNotFound(vm);
  }
  // A VM that is off has no nodes. Its agent, or what starts that, makes this one when it starts.
  if (ran === "off" || ran.code === 0) return;
  await detach(cloud, vm, disk);
  if (upstream) await mark(cloud, vm, found, disk, false);
  throw DiskCommandFailed({
    disk,
    doing: "making its device node in the VM",
    said: ran.stderr.trim().slice(-300),
  });
}

/**
 * Most often the VM is there: to ask for it takes half as long as the claim, which is made meanwhile. One that no VM has
 * would be lost, and is undone.
 */
async function claimed(
  cloud: DockerCloudContext,
  vm: string,
  disk: string,
): Promise<{ readonly found: Container; readonly number: string }> {
  if (!isPlain(vm)) throw vmNotFound(vm);
  const [found, number] = await Promise.allSettled([mustFindVm(cloud, vm), claim(cloud, vm, disk)]);
  if (found.status === "rejected") {
    // Where it cannot be undone the next one that claims it finds no such VM.
    if (number.status === "fulfilled") await detach(cloud, vm, disk).catch(() => undefined);
    throw found.reason;
  }
  if (number.status === "rejected") throw number.reason;
  return { found: found.value, number: number.value };
}

/** A VM that is gone, as after a crash in the middle of delete_vm, has no claim to its disks. */
async function claim(cloud: DockerCloudContext, vm: string, disk: string): Promise<string> {
  const doing = "making its loop device";
  const tried = await tryOnDisk(cloud, disk, ATTACH, [vm], doing);
  if (tried.code !== ENDED.held) return settle(tried, { disk, doing, vm });
  const holder = tried.stdout.trim();
  if ((await findVm(cloud, holder)) !== undefined) return settle(tried, { disk, doing, vm });
  return await onDisk(cloud, disk, ATTACH, [vm, holder], doing);
}

/** Takes a disk from a VM, unless something in there still uses it. */
export async function detachDisk(cloud: DockerCloudContext, vm: string, disk: string): Promise<void> {
  const found = await mustFindVm(cloud, vm);
  await detach(cloud, vm, disk);
  if (hasUpstreamAgent(found)) await mark(cloud, vm, found, disk, false);
  // Its number may become another disk's.
  const ran = await inVm(cloud, vm, ["rm", "-f", nodeOf(disk)]);
  if (typeof ran === "object" && ran.code !== 0)
    throw DiskCommandFailed({ disk, doing: "removing its device node", said: ran.stderr.trim().slice(-300) });
}

/** Upstream's agent makes no file systems and no nodes; a script of ours does, also at the next start. */
const mark = (
  cloud: DockerCloudContext,
  vm: string,
  found: Container,
  disk: string,
  attached: boolean,
): Promise<void> =>
  putIntoVm(cloud, vm, found, diskMark(disk, attached), `telling VM '${vm}' of its disk '${disk}'`);

const detach = (cloud: DockerCloudContext, vm: string, disk: string): Promise<string> =>
  onDisk(cloud, disk, DETACH, [vm], "taking its loop device away", { vm });

/** After the VM is gone. Its disks stay, and are free. */
export async function releaseDisks(cloud: DockerCloudContext, vm: string): Promise<void> {
  const diskHelper = await DiskHelper.openIfUsed(cloud);
  const ran = await diskHelper?.run(RELEASE, [vm], "releasing its disks");
  if (ran === undefined || ran.code === 0) return;
  if (ran.code === ENDED.busy)
    throw DiskInUse({
      disk: ran.stdout.trim(),
      holder: "something on the engine's host",
      why: `VM '${vm}' is gone, and its file system is still mounted`,
    });
  throw cloudError(`the disks of VM '${vm}' cannot be released: ${ran.stderr.trim().slice(-300)}`);
}

export async function disksOf(cloud: DockerCloudContext, vm: string): Promise<string[]> {
  const diskHelper = await DiskHelper.openIfUsed(cloud);
  const ran = await diskHelper?.run(HELD, [vm], "looking for the disks of a VM");
  if (ran === undefined) return [];
  if (ran.code !== 0)
    throw cloudError(`the disks of VM '${vm}' are not known: ${ran.stderr.trim().slice(-300)}`);
  return ran.stdout.split("\n").filter((line) => line !== "");
}
