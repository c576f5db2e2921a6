import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { DiskContext } from "../context.ts";
import type { DiskIdentity } from "../hint-target.ts";
import { entries } from "../sysfs.ts";
import { idsOf, plainId, type Strategy } from "./strategy.ts";

/** A shorter id is believed only as a whole word: `1` would end many names. */
const LONG_ENOUGH = 20;

/** udev's links, whose names end in the serial number or WWN. */
export const byIdLink: Strategy = async (target, context) => {
  const ids = idsOf(target);
  if (ids.length === 0) return undefined;
  const directory = context.paths.system("dev", "disk", "by-id");
  const matches = matcher(target, context);
  const devices: string[] = [];
  for (const name of await entries(directory)) {
    if (!matches(name)) continue;
    const device = await realpath(join(directory, name)).catch(() => undefined);
    if (device !== undefined) devices.push(device);
  }
  return { tried: `links ${directory}/*${ids.join(" or *")}`, devices };
};

function matcher(target: DiskIdentity, context: DiskContext): (name: string) => boolean {
  const exact = transformed(target.cid, context);
  if (exact !== undefined) return (name) => name === exact;
  const ids = idsOf(target);
  return (name) => ids.some((id) => endsIn(name, id));
}

function endsIn(name: string, id: string): boolean {
  const plainName = plainId(name);
  const plain = plainId(id);
  if (!plainName.endsWith(plain)) return false;
  if (plain.length >= LONG_ENOUGH) return true;
  return name === id || ["-", "_"].some((separator) => name.endsWith(`${separator}${id}`));
}

/** Upstream's DiskIDTransformPattern: the exact name that a cid has there. */
function transformed(cid: string, context: DiskContext): string | undefined {
  const { DiskIDTransformPattern: pattern, DiskIDTransformReplacement: replacement } = context.config;
  if (typeof pattern !== "string" || pattern === "" || typeof replacement !== "string" || cid === "")
    return undefined;
  // Go writes ${1} where JavaScript writes $1.
  const name = cid.replace(new RegExp(pattern), replacement.replaceAll(/\$\{(\d+)\}/g, "$$$1"));
  return name === cid ? undefined : name;
}
