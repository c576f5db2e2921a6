import { diskNotAttached, diskNotFound, noDiskSpace, notSupported } from "@slipway/cpi-sdk/errors";
import type { Provisioning } from "@slipway/cpi-sdk/provisioning";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { type DockerCloudContext, isPlain } from "../cloud-context.ts";
import { putFiles } from "../engine/archive.ts";
import type { ExecResult } from "../engine/exec.ts";
import { DeviceLost, DiskCommandFailed, DiskInUse, NoFreeDevice } from "../errors.ts";
import { DiskHelper } from "./disk-helper.ts";
import type { DiskType } from "./properties.ts";
import { ENDED } from "./scripts/common.ts";
import { CREATE, DELETE, DESCRIBE, HAS, KIND, PROVISION } from "./scripts/disks.ts";
import { GROW } from "./scripts/grow.ts";
import { CREATE_ON_DEVICE } from "./scripts/pool.ts";

export interface NewDisk {
  readonly cid: string;
  readonly sizeMib: number;
  readonly type: DiskType;
  readonly provisioning: Provisioning;
  readonly record: JsonObject;
}

/** A file in the volume, or a whole device of the pool. */
export async function createDisk(
  cloud: DockerCloudContext,
  { cid, sizeMib, type, provisioning, record }: NewDisk,
): Promise<string> {
  const { devices = [] } = cloud.config;
  if (type === "device" && devices.length === 0)
    throw NoFreeDevice({ sizeMib, reasons: ["docker.devices names none"] });
  const diskHelper = await DiskHelper.open(cloud);
  const doing = "making the disk";
  const args = [cid, String(sizeMib), JSON.stringify(record)];
  const ran =
    type === "device"
      ? await diskHelper.run(CREATE_ON_DEVICE, [...args, ...devices], doing)
      : await diskHelper.run(CREATE, [...args, provisioning], doing);
  settle(ran, { disk: cid, doing, sizeMib });
  return cid;
}

export async function hasDisk(cloud: DockerCloudContext, cid: string): Promise<boolean> {
  const diskHelper = isPlain(cid) ? await DiskHelper.openIfUsed(cloud) : undefined;
  if (diskHelper === undefined) return false;
  const doing = "looking for the disk";
  const ran = await diskHelper.run(HAS, [cid], doing);
  if (ran.code === ENDED.notFound) return false;
  settle(ran, { disk: cid, doing });
  return true;
}

export async function removeDisk(cloud: DockerCloudContext, cid: string): Promise<void> {
  await onDisk(cloud, cid, DELETE, [], "deleting it");
}

/** Grows a disk, also while a VM has it. If its file system could not follow at once, why; it does when it is mounted. */
export async function growDisk(
  cloud: DockerCloudContext,
  cid: string,
  sizeMib: number,
): Promise<string | undefined> {
  return (await onDisk(cloud, cid, GROW, [String(sizeMib)], "growing it", { sizeMib })) || undefined;
}

/** Space that a disk has is not taken from it: a thin one only need not have all. */
export async function provisionDisk(
  cloud: DockerCloudContext,
  cid: string,
  provisioning: Provisioning,
): Promise<void> {
  await onDisk(cloud, cid, PROVISION, [provisioning], "allocating its space");
}

export const typeOfDisk = async (cloud: DockerCloudContext, cid: string): Promise<DiskType> =>
  (await onDisk(cloud, cid, KIND, [], "looking at it")) === "device" ? "device" : "file";

export async function describeDisk(
  cloud: DockerCloudContext,
  cid: string,
  metadata: JsonObject,
): Promise<void> {
  const diskHelper = await diskHelperFor(cloud, cid);
  const doing = "describing it";
  const file = { name: `slipway/.described-${cid}`, content: JSON.stringify(metadata), mode: 0o600 };
  await putFiles(cloud.engine, diskHelper.name, [file], doing);
  settle(await diskHelper.run(DESCRIBE, [cid], doing), { disk: cid, doing });
}

interface Context {
  readonly disk: string;
  readonly doing: string;
  readonly vm?: string;
  readonly sizeMib?: number;
}

/** Runs a script on a disk. What it says. */
export async function onDisk(
  cloud: DockerCloudContext,
  disk: string,
  script: string,
  args: readonly string[],
  doing: string,
  more: Omit<Context, "disk" | "doing"> = {},
): Promise<string> {
  return settle(await tryOnDisk(cloud, disk, script, args, doing), { disk, doing, ...more });
}

/** Runs a script like `onDisk`; the caller judges how it ended. */
export async function tryOnDisk(
  cloud: DockerCloudContext,
  disk: string,
  script: string,
  args: readonly string[],
  doing: string,
): Promise<ExecResult> {
  return await (await diskHelperFor(cloud, disk)).run(script, [disk, ...args], doing);
}

async function diskHelperFor(cloud: DockerCloudContext, disk: string): Promise<DiskHelper> {
  const diskHelper = isPlain(disk) ? await DiskHelper.openIfUsed(cloud) : undefined;
  if (diskHelper === undefined) throw diskNotFound(disk);
  return diskHelper;
}

/** Returns the output of a script, or throws its end as an error of the contract. */
export function settle({ code, stdout, stderr }: ExecResult, { disk, doing, vm, sizeMib }: Context): string {
  const said = stdout.trim();
  switch (code) {
    case 0:
      return said;
    case ENDED.notFound:
      throw diskNotFound(disk);
    case ENDED.notAttached:
      throw diskNotAttached(vm ?? "", disk);
    case ENDED.held:
      throw DiskInUse({ disk, holder: `the VM '${said}'`, why: "it is attached to it" });
    case ENDED.busy:
      throw DiskInUse({
        disk,
        holder: vm === undefined ? "something on the engine's host" : `the VM '${vm}'`,
        why: "its file system is mounted, or its device is open",
      });
    case ENDED.tooSmall:
      throw notSupported(`disk '${disk}' has ${said} MiB and cannot become smaller (${sizeMib} MiB)`);
    case ENDED.noRoom:
      throw noDiskSpace(
        `disk '${disk}': ${doing}: the volume has ${said === "" ? "not the room" : `${said} MiB`} for it. Free space on the engine's ` +
          "host, ask for a smaller disk, or for one that takes space as it is written to: provisioning: thin in the " +
          "cloud properties of its disk type",
      );
    case ENDED.beyond:
      throw notSupported(`disk '${disk}' is a device of ${said} MiB and cannot have ${sizeMib} MiB`);
    case ENDED.noDevice:
      throw NoFreeDevice({ sizeMib: sizeMib ?? 0, reasons: said.split("\n") });
    case ENDED.lost:
      throw DeviceLost({ disk, said });
    case ENDED.notAllowed:
      throw DiskCommandFailed({
        disk,
        doing,
        said: `the engine does not let the disk helper open device ${said}`,
      });
    default:
      throw DiskCommandFailed({
        disk,
        doing,
        said: stderr.trim().slice(-500) || `the script ended with ${code}`,
      });
  }
}
