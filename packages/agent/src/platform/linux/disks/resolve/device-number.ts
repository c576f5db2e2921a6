import { realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { nodeFor } from "../block-device.ts";
import { underRoot } from "../context.ts";
import { attribute } from "../sysfs.ts";
import { namesDisk } from "./loop-file.ts";
import type { Strategy } from "./strategy.ts";

/** The device that the CPI named by its number, for machines (containers) that do not get nodes by themselves. */
export const deviceNumberInHint: Strategy = async (target, context) => {
  const { dev } = target;
  if (dev === undefined) return undefined;
  const none = (why: string) => ({ tried: `device number ${dev}: ${why}`, devices: [] });
  if (!/^\d+:\d+$/.test(dev)) return none("not of the form major:minor");
  const sysfs = context.paths.system("sys", "dev", "block", dev);
  if (((await attribute(join(sysfs, "size"))) ?? "0") === "0") return none("the kernel has no such disk");
  // Loop numbers are given out again when the host starts again: the file behind must agree.
  const file = await attribute(join(sysfs, "loop", "backing_file"));
  if (file !== undefined && target.cid !== "" && !namesDisk(file, target.cid)) {
    return none(`it is a loop device over ${basename(file)}, which is another disk`);
  }
  const path = target.path?.startsWith("/") ? underRoot(context, target.path) : undefined;
  return {
    tried: `device number ${dev}`,
    devices: [await nodeFor(context, basename(await realpath(sysfs)), dev, path)],
  };
};
