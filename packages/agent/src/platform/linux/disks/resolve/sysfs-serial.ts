import { join } from "node:path";
import { nodeFor } from "../block-device.ts";
import { attribute, entries, rawAttribute } from "../sysfs.ts";
import { idsOf, plainId, type Strategy } from "./strategy.ts";

/** virtio-blk cuts serial numbers to this length without saying so. */
const VIRTIO_SERIAL = 20;

/** These have none, and there may be many. */
const IN_MEMORY = /^(loop|ram|zram)\d+$/;

/** The serial number or WWN that the kernel read from the disk; needs no udev. */
export const sysfsSerial: Strategy = async (target, context) => {
  const ids = idsOf(target);
  if (ids.length === 0) return undefined;
  const block = context.paths.system("sys", "block");
  const wanted = new Set(ids.map(plainId));
  const devices: string[] = [];
  const seen: string[] = [];
  const disks = await Promise.all(
    (await entries(block))
      .filter((name) => !IN_MEMORY.test(name))
      .map(async (name) => ({ name, found: await serials(join(block, name)) })),
  );
  for (const { name, found } of disks) {
    if (found.some((serial) => wanted.has(plainId(serial)))) {
      const number = await attribute(join(block, name, "dev"));
      if (number !== undefined) devices.push(await nodeFor(context, name, number));
    } else if (found[0] !== undefined) {
      const cut = ids.some((id) => id.length > VIRTIO_SERIAL && id.startsWith(found[0] ?? ""));
      seen.push(
        `${name}=${found[0]}${cut ? " (the id cut to 20 characters, as virtio does; not taken for proof)" : ""}`,
      );
    }
  }
  const others = seen.length === 0 ? "no disk has one" : `there are ${seen.slice(0, 8).join(", ")}`;
  return { tried: `serial numbers and WWNs in ${block} for ${ids.join(" or ")} (${others})`, devices };
};

async function serials(device: string): Promise<readonly string[]> {
  const [page80, page83, ...texts] = await Promise.all([
    rawAttribute(join(device, "device", "vpd_pg80")),
    rawAttribute(join(device, "device", "vpd_pg83")),
    ...["serial", "device/serial", "wwid", "device/wwid"].map((file) => attribute(join(device, file))),
  ]);
  const all = [...texts, page80 && unitSerial(page80), ...(page83 ? designators(page83) : [])];
  return all.filter((serial): serial is string => serial !== undefined && serial !== "");
}

/** SCSI page 0x80: four bytes of header, then text. */
export function unitSerial(page: Buffer): string {
  return page.length < 4 ? "" : printable(page.subarray(4, 4 + page.readUInt16BE(2)));
}

/** SCSI page 0x83: a list of designators of the logical unit, binary ones (NAA, EUI) as hex, others as text. */
export function designators(page: Buffer): readonly string[] {
  const found: string[] = [];
  for (let at = 4; at + 4 <= page.length; ) {
    const length = page.readUInt8(at + 3);
    const body = page.subarray(at + 4, at + 4 + length);
    const binary = (page.readUInt8(at) & 0x0f) === 1;
    const association = (page.readUInt8(at + 1) >> 4) & 3;
    // Others describe the port or the target, which many disks share.
    if (association === 0 && body.length === length)
      found.push(binary ? body.toString("hex") : printable(body));
    at += 4 + length;
  }
  return found.filter((designator) => designator !== "");
}

const printable = (bytes: Buffer) =>
  bytes
    .toString("latin1")
    .replaceAll(/[^\x20-\x7e]/g, "")
    .trim();
