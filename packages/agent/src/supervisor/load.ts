import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ifThere } from "@slipway/kernel/files";
import { MonitFileInvalid } from "./errors.ts";
import { type JobText, readMonitDirectory } from "./job-files.ts";
import type { Remark, Service } from "./monit-file/model.ts";
import { parseMonitFile } from "./monit-file/parse.ts";
import { inStartOrder } from "./order.ts";

export interface LoadedServices {
  /** Each after what it depends on. */
  readonly services: readonly Service[];
  readonly warnings: readonly Remark[];
}

/** Files that include each other in a circle end here, as in monit. */
const DEEPEST = 8;

/** Reads all monit files of a directory, and what they include. */
export async function loadMonitDirectory(directory: string): Promise<LoadedServices> {
  const services: Service[] = [];
  const warnings: Remark[] = [];
  const take = async ({ file, text }: JobText, depth: number): Promise<void> => {
    const content = parseMonitFile(text, file);
    services.push(...content.services);
    warnings.push(...content.warnings);
    for (const { pattern, line } of content.includes) {
      if (depth >= DEEPEST)
        throw MonitFileInvalid({ file, line, why: "files include each other too deeply" });
      const found = await included(pattern);
      if (found.length === 0) warnings.push({ file, line, text: `no file to include: ${pattern}` });
      for (const one of found) await take(one, depth + 1);
    }
  };
  for (const one of await readMonitDirectory(directory)) await take(one, 0);
  return { services: inStartOrder(services), warnings };
}

/** A path whose last part may have `*` and `?`. */
async function included(pattern: string): Promise<readonly JobText[]> {
  const directory = dirname(pattern);
  const form = basename(pattern).replace(/[.+^${}()|[\]\\]/g, "\\$&");
  const matches = new RegExp(`^${form.replaceAll("*", "[^/]*").replaceAll("?", "[^/]")}$`);
  const names = ((await ifThere(readdir(directory, { withFileTypes: true }))) ?? [])
    .filter((entry) => !entry.isDirectory() && matches.test(entry.name) && !entry.name.endsWith("~"))
    .map((entry) => entry.name)
    .sort();
  return await Promise.all(
    names.map(async (name) => ({
      file: join(directory, name),
      text: await readFile(join(directory, name), "utf8"),
    })),
  );
}
