import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { parseYaml } from "@slipway/director/manifest/yaml";
import { messageTrail } from "@slipway/kernel/errors";
import * as v from "valibot";
import { StemcellUnreadable } from "../stemcells/errors.ts";

const named = v.looseObject({ name: v.string(), version: v.union([v.string(), v.number()]) });
const BLOCK = 512;
const LARGEST = 1024 * 1024;

/** Name and version by the `stemcell.MF` of an archive, which is read no further than that. */
export async function stemcellName(
  file: string,
): Promise<{ readonly name: string; readonly version: string }> {
  try {
    const manifest = await manifestOf(file);
    if (manifest === undefined) throw StemcellUnreadable({ file, why: "it holds no stemcell.MF" });
    const { name, version } = v.parse(named, parseYaml(manifest, "stemcell.MF"));
    return { name, version: String(version) };
  } catch (cause) {
    if (StemcellUnreadable.is(cause)) throw cause;
    throw StemcellUnreadable({ file, why: messageTrail(cause) }, { cause });
  }
}

/** Walks the headers of the tar; its contents are passed over. */
async function manifestOf(file: string): Promise<string | undefined> {
  const source = createReadStream(file);
  const unzipped = createGunzip();
  source.on("error", (error) => unzipped.destroy(error));
  source.pipe(unzipped);
  let held = Buffer.alloc(0);
  let skip = 0;
  let wanted: number | undefined;
  try {
    for await (const chunk of unzipped as AsyncIterable<Buffer>) {
      const dropped = Math.min(skip, chunk.length);
      skip -= dropped;
      held = Buffer.concat([held, chunk.subarray(dropped)]);
      for (;;) {
        if (wanted !== undefined) {
          if (held.length < wanted) break;
          return held.subarray(0, wanted).toString("utf8");
        }
        if (skip > 0 || held.length < BLOCK) break;
        const { name, size } = header(held);
        held = held.subarray(BLOCK);
        if (name === "stemcell.MF" && size <= LARGEST) {
          wanted = size;
          continue;
        }
        const rest = Math.ceil(size / BLOCK) * BLOCK;
        const here = Math.min(rest, held.length);
        held = held.subarray(here);
        skip = rest - here;
      }
    }
    return undefined;
  } finally {
    source.destroy();
    unzipped.destroy();
  }
}

function header(block: Buffer): { readonly name: string; readonly size: number } {
  const text = (from: number, length: number) =>
    block
      .subarray(from, from + length)
      .toString("latin1")
      .replace(/\0[\s\S]*$/, "")
      .trim();
  const size = Number.parseInt(text(124, 12) || "0", 8);
  if (!Number.isSafeInteger(size) || size < 0) throw new Error("it is not a tar archive");
  return { name: text(0, 100).replace(/^\.\//, ""), size };
}
