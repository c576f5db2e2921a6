import { lstat, realpath, rm } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, normalize } from "node:path";
import { ifThere } from "@slipway/kernel/files";
import { BadRequest } from "../errors.ts";
import { isLogArchive } from "../logs/collect.ts";
import type { Action } from "./action.ts";

/**
 * Upstream removes any path it is told. Callers only mean what bundle_logs left, and blobs they have fetched, so only
 * those are removed: right inside the directory they are made in. A link there is removed itself, not what it leads to.
 */
export const removeFile: Action<"remove_file"> = async ({ path }, { services }) => {
  const { dataTmp, blobs } = services.paths;
  const refused = BadRequest({
    why: `${path} is not removed: only logs that bundle_logs packed in ${dataTmp} are, and blobs in ${blobs}`,
  });
  // What is not plain is not judged further: dots, empty parts and NULs are in no path that bundle_logs gave out.
  if (!isAbsolute(path) || normalize(path) !== path || path.includes("\0")) throw refused;
  const homes = isLogArchive(basename(path)) ? [dataTmp, blobs] : [blobs];
  const parent = await ifThere(realpath(dirname(path)));
  if (parent === undefined) {
    if (homes.includes(dirname(path))) return path;
    throw refused;
  }
  const real = await Promise.all(homes.map((home) => ifThere(realpath(home))));
  if (!real.includes(parent)) throw refused;
  const file = join(parent, basename(path));
  if ((await ifThere(lstat(file)))?.isDirectory()) throw refused;
  await rm(file, { force: true });
  return path;
};
