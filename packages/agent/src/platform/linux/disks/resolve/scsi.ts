import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { nodeFor } from "../block-device.ts";
import type { DiskContext } from "../context.ts";
import { attribute, entries } from "../sysfs.ts";
import type { Strategy } from "./strategy.ts";

/** `volume_id`: the SCSI target number, on the host adapter that carries the system disk as its target 0. */
export const scsiVolume: Strategy = async (target, context) => {
  if (target.volumeId === undefined) return undefined;
  if (!/^\d+$/.test(target.volumeId)) {
    return { tried: `SCSI target "${target.volumeId}": not a number`, devices: [] };
  }
  const directory = context.paths.system("sys", "bus", "scsi", "devices");
  const addresses: string[] = [];
  for (const name of await entries(directory)) {
    const host = /^(\d+):0:0:0$/.exec(name)?.[1];
    if (host === undefined || (await entries(join(directory, name, "block"))).length === 0) continue;
    addresses.push(`${host}:0:${target.volumeId}:0`);
  }
  const found = await Promise.all(addresses.map((address) => blockDevicesAt(context, address)));
  return {
    tried: `SCSI addresses ${addresses.join(", ") || "(no adapter has a disk 0)"}`,
    devices: found.flat(),
  };
};

/** `scsi_address`, ours: host:channel:target:lun. */
export const scsiAddress: Strategy = async (target, context) => {
  if (target.scsiAddress === undefined) return undefined;
  const tried = `SCSI address ${target.scsiAddress}`;
  if (!/^\d+:\d+:\d+:\d+$/.test(target.scsiAddress))
    return { tried: `${tried}: not of the form H:C:T:L`, devices: [] };
  return { tried, devices: await blockDevicesAt(context, target.scsiAddress) };
};

export async function blockDevicesAt(context: DiskContext, address: string): Promise<readonly string[]> {
  const directory = context.paths.system("sys", "bus", "scsi", "devices", address, "block");
  const devices: string[] = [];
  for (const name of await entries(directory)) {
    const number = await attribute(join(directory, name, "dev"));
    if (number !== undefined) devices.push(await nodeFor(context, name, number));
  }
  return devices;
}

/** Adapters without hot-plug notice a new disk only when asked to look. */
export async function rescanScsi(context: DiskContext): Promise<void> {
  const hosts = context.paths.system("sys", "class", "scsi_host");
  for (const host of await entries(hosts)) {
    await writeFile(join(hosts, host, "scan"), "- - -").catch((error: unknown) =>
      context.log.warn(`SCSI adapter ${host} cannot be asked to look for disks: ${String(error)}`),
    );
  }
}
