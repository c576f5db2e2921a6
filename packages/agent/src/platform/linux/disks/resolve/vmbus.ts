import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { attribute, entries } from "../sysfs.ts";
import { blockDevicesAt } from "./scsi.ts";
import type { Strategy } from "./strategy.ts";

/** `lun` and `host_device_id`: a logical unit below the vmbus device (Hyper-V, Azure) with that id. */
export const vmbusLun: Strategy = async (target, context) => {
  if (target.lun === undefined || target.hostDeviceId === undefined) return undefined;
  const tried = `LUN ${target.lun} of vmbus device ${target.hostDeviceId}`;
  const vmbus = context.paths.system("sys", "bus", "vmbus", "devices");
  const wanted = target.hostDeviceId.toLowerCase();
  const hosts: string[] = [];
  for (const name of await entries(vmbus)) {
    const id = await attribute(join(vmbus, name, "device_id"));
    if (id?.toLowerCase() === wanted) hosts.push(await realpath(join(vmbus, name)));
  }
  if (hosts.length === 0) return { tried: `${tried}: there is no such vmbus device`, devices: [] };
  const scsi = context.paths.system("sys", "bus", "scsi", "devices");
  const devices: string[] = [];
  for (const address of await entries(scsi)) {
    if (!/^\d+:\d+:\d+:\d+$/.test(address) || address.split(":")[3] !== target.lun) continue;
    const place = await realpath(join(scsi, address));
    if (hosts.some((host) => place.startsWith(`${host}/`)))
      devices.push(...(await blockDevicesAt(context, address)));
  }
  return { tried, devices };
};
