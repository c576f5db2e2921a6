import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Strategy } from "./strategy.ts";

/** The stemcell's udev rules make a link per LUN in a directory that the configuration names. */
export const lunLink: Strategy = async (target, context) => {
  const base = context.config.LunDeviceSymlinkPath;
  if (base === undefined || base === "" || target.lun === undefined) return undefined;
  const link = context.paths.system(base, target.lun);
  // The number comes from outside and becomes part of a path.
  if (!/^\d+$/.test(target.lun)) return { tried: `link ${link}: the LUN is not a number`, devices: [] };
  const device = await realpath(join(link)).catch(() => undefined);
  return { tried: `link ${link}`, devices: device === undefined ? [] : [device] };
};
