import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Random } from "@slipway/kernel/random";
import type { Blobs } from "./blobs.ts";

/**
 * `withFile` and `sweep` of a store without files: the content is streamed into a file of a directory that belongs to this
 * process alone. The file is removed when `work` is done, and by `sweep` if the process was killed.
 */
export function temporaryFiles(
  get: Blobs["get"],
  { dir, random }: { readonly dir: string; readonly random: Random },
): Pick<Blobs, "withFile" | "sweep"> {
  return {
    withFile: async (id, work) => {
      const blob = await get(id);
      if (blob === undefined) return undefined;
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const path = join(dir, random.uuid());
      try {
        await pipeline(blob.content, createWriteStream(path, { flags: "wx", mode: 0o600 }));
        return await work(path);
      } finally {
        await rm(path, { force: true });
      }
    },
    sweep: () => rm(dir, { recursive: true, force: true }),
  };
}
