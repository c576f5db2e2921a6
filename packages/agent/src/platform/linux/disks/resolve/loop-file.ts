import { basename, join } from "node:path";
import { nodeFor } from "../block-device.ts";
import { underRoot } from "../context.ts";
import { attribute, entries } from "../sysfs.ts";
import type { Strategy } from "./strategy.ts";

/**
 * Loop devices by the file behind them. Their numbers change when the host starts again; the directory differs with
 * who attached the file; its name is the disk's.
 */
export const loopFile: Strategy = async (target, context) => {
  if (target.cid === "") return undefined;
  const block = context.paths.system("sys", "block");
  const devices: string[] = [];
  const loops = (await entries(block)).filter((name) => name.startsWith("loop"));
  const files = await Promise.all(loops.map((name) => attribute(join(block, name, "loop", "backing_file"))));
  for (const [at, name] of loops.entries()) {
    const file = files[at];
    if (file === undefined || !namesDisk(file, target.cid)) continue;
    const number = await attribute(join(block, name, "dev"));
    if (number === undefined) continue;
    devices.push(
      await nodeFor(
        context,
        name,
        number,
        target.path?.startsWith("/") ? underRoot(context, target.path) : undefined,
      ),
    );
  }
  return { tried: `loop devices over a file named ${target.cid} or disk-${target.cid}`, devices };
};

/** `…/disk-CID.img`, `…/CID.img`, `…/CID`, deleted or not. */
export function namesDisk(file: string, cid: string): boolean {
  const name = basename(file.replace(/ \(deleted\)$/, "")).replace(/\.(img|raw|ext4|xfs)$/, "");
  return name === cid || name === `disk-${cid}`;
}
