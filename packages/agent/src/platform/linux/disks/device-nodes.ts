import { stat } from "node:fs/promises";
import { ifThere } from "@slipway/kernel/files";

/** `major:minor`, the only name of a device that the kernel itself uses. */
export type DeviceNumber = string;

/** Block device nodes; passed in because only root can make them, and most of the logic is tested without root. */
export interface DeviceNodes {
  /** The number of the block device at a path; undefined where there is none. */
  numberOf(path: string): Promise<DeviceNumber | undefined>;
}

export const systemNodes: DeviceNodes = {
  async numberOf(path) {
    const found = await ifThere(stat(path, { bigint: true }));
    return found?.isBlockDevice() ? deviceNumber(found.rdev) : undefined;
  },
};

/** Takes apart a `dev_t` as glibc packs it. */
export function deviceNumber(packed: bigint): DeviceNumber {
  const major = ((packed >> 8n) & 0xfffn) | ((packed >> 32n) & 0xfffff000n);
  const minor = (packed & 0xffn) | ((packed >> 12n) & 0xffffff00n);
  return `${major}:${minor}`;
}
