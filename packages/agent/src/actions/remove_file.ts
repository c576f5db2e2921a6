import { realpath, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { BadRequest } from "../errors.ts";
import type { Action } from "./action.ts";

/** Upstream removes any path it is told. Callers only mean what bundle_logs left, so only that is removed. */
export const removeFile: Action<"remove_file"> = async ({ path }, { services }) => {
  const home = await realpath(services.paths.dataTmp).catch(() => services.paths.dataTmp);
  const parent = await realpath(dirname(path)).catch(() => undefined);
  if (parent === undefined) return path;
  if (parent !== home && !parent.startsWith(`${home}/`)) {
    throw BadRequest({ why: `only files under ${services.paths.dataTmp} are removed` });
  }
  await rm(join(parent, basename(path)), { recursive: true, force: true });
  return path;
};
