import { diskNotAttached } from "@slipway/cpi-sdk/errors";
import * as v from "valibot";
import { refusedAs, unlessRefused } from "../api/refusals.ts";
import type { AwsCloud } from "../cloud.ts";
import { instanceTypeFacts } from "../ec2/instance-types.ts";
import { findVm, type Instance, mustFindVm, volumesOf } from "../ec2/instances.ts";
import { attachmentOf, findVolume, mustFindVolume, type Volume } from "../ec2/volumes.ts";
import { SETTLED_WITHIN_MS, waitFor } from "../ec2/wait.ts";
import { DiskTaken, NoDeviceName, WrongZone } from "../errors.ts";

/** Names that EC2 recommends for volumes. */
const DEVICES = [..."fghijklmnop"].map((letter) => `/dev/sd${letter}`);

/** Attaches a disk, or finds it attached, and returns the path under which the agent finds it. */
export async function attachDisk(cloud: AwsCloud, vmCid: string, diskCid: string): Promise<string> {
  const vm = await mustFindVm(cloud, vmCid);
  const volume = await mustFindVolume(cloud, diskCid);
  const zone = vm.placement.availabilityZone;
  if (volume.availabilityZone !== zone)
    throw WrongZone({
      what: "a disk and its VM",
      zones: [`disk ${diskCid} is in ${volume.availabilityZone}`, `VM ${vmCid} is in ${zone}`],
    });
  const now = await letGo(cloud, volume);
  const device = attachmentOf(now)?.instanceId === vmCid ? attachmentOf(now)?.device : undefined;
  if (device === undefined && attachmentOf(now) !== undefined)
    throw DiskTaken({ disk: diskCid, holder: `VM ${attachmentOf(now)?.instanceId}` });
  const name = device ?? (await attach(cloud, vm, diskCid));
  await untilAttached(cloud, vmCid, diskCid);
  const { nvmeVolumes } = await instanceTypeFacts(cloud, vm.instanceType);
  return hintFor(diskCid, name, nvmeVolumes);
}

/** On Nitro the device name says nothing; the serial number of the NVMe device is the volume's id without its dash. */
export const hintFor = (volume: string, device: string, nvme: boolean): string =>
  nvme ? `/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_${volume.replace("-", "")}` : device;

/** Takes the first name that is free. Another call may take it in this moment, then it is the next. */
async function attach(cloud: AwsCloud, vm: Instance, volume: string): Promise<string> {
  const used = new Set([...volumesOf(vm).keys()].map((name) => name.replace("/dev/xvd", "/dev/sd")));
  for (const device of DEVICES.filter((name) => !used.has(name))) {
    const asked = { VolumeId: volume, InstanceId: vm.instanceId, Device: device };
    try {
      await waitFor(
        cloud,
        () =>
          // The VM or the disk is changing its state.
          unlessRefused(
            cloud.ec2.call(v.unknown(), "AttachVolume", asked).then(() => true),
            "IncorrectState",
            "IncorrectInstanceState",
          ),
        {
          ...{ withinMs: 60_000, what: `volume ${volume}`, wanted: "attachable" },
          is: () => "changing its state",
        },
      );
      return device;
    } catch (error) {
      // A lost answer was followed by a repeat: the first one attached it.
      if (refusedAs(error, "VolumeInUse")) {
        const found = attachmentOf(await mustFindVolume(cloud, volume));
        if (found?.instanceId === vm.instanceId && found.device !== undefined) return found.device;
      }
      const nameTaken =
        refusedAs(error, "InvalidParameterValue") && /already in use|attachment point/i.test(String(error));
      if (!nameTaken) throw error;
    }
  }
  throw NoDeviceName({ vm: vm.instanceId });
}

/** Waits for a detachment that is under way, of another VM that was just deleted for example. */
async function letGo(cloud: AwsCloud, volume: Volume): Promise<Volume> {
  if (attachmentOf(volume)?.status !== "detaching") return volume;
  return await waitFor(
    cloud,
    async () => {
      const found = await mustFindVolume(cloud, volume.volumeId);
      return attachmentOf(found)?.status === "detaching" ? undefined : found;
    },
    {
      ...{ withinMs: SETTLED_WITHIN_MS, what: `volume ${volume.volumeId}`, wanted: "detached" },
      is: () => "detaching; something in the VM may still have it mounted",
    },
  );
}

async function untilAttached(cloud: AwsCloud, vmCid: string, diskCid: string): Promise<void> {
  let state = "attaching";
  await waitFor(
    cloud,
    async () => {
      const found = attachmentOf(await mustFindVolume(cloud, diskCid));
      state = found?.status ?? "not attached";
      return found?.instanceId === vmCid && state === "attached" ? true : undefined;
    },
    { withinMs: SETTLED_WITHIN_MS, what: `volume ${diskCid}`, wanted: "attached", is: () => state },
  );
}

/** Detaches a disk and waits until it is free. Never by force: what the VM has not written yet would be lost. */
export async function detachDisk(cloud: AwsCloud, vmCid: string, diskCid: string): Promise<void> {
  const volume = await mustFindVolume(cloud, diskCid);
  if (attachmentOf(volume)?.instanceId !== vmCid) {
    await mustFindVm(cloud, vmCid);
    throw diskNotAttached(vmCid, diskCid);
  }
  await unlessRefused(
    cloud.ec2.call(v.unknown(), "DetachVolume", { VolumeId: diskCid, InstanceId: vmCid }),
    // It is being detached, by a call before this one.
    "IncorrectState",
    "InvalidAttachment.NotFound",
  );
  let state = "detaching";
  await waitFor(
    cloud,
    async () => {
      const found = await findVolume(cloud, diskCid);
      const attachment = found === undefined ? undefined : attachmentOf(found);
      state = attachment?.status ?? "detached";
      return attachment?.instanceId === vmCid ? undefined : true;
    },
    {
      withinMs: SETTLED_WITHIN_MS,
      what: `volume ${diskCid}`,
      wanted: "detached",
      is: () => `${state}; something in the VM may still have it mounted`,
    },
  );
}

/** Persistent disks of a VM: all volumes but those it was launched with. */
export async function disksOf(cloud: AwsCloud, vmCid: string): Promise<readonly string[]> {
  const vm = await findVm(cloud, vmCid);
  return vm === undefined ? [] : persistentDisks(vm);
}

const LAUNCHED_WITH = ["/dev/sdb", "/dev/xvdb"];

export const persistentDisks = (vm: Instance): readonly string[] =>
  [...volumesOf(vm)]
    .filter(([device]) => device !== vm.rootDeviceName && !LAUNCHED_WITH.includes(device))
    .map(([, volume]) => volume);
