import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { damageOf } from "@slipway/engine/stemcells/extract";
import { createTarDecoder, type ParsedTarEntry } from "modern-tar";
import * as v from "valibot";
import { StemcellUnreadable } from "../stemcells/errors.ts";

const named = v.looseObject({ name: v.string(), version: v.union([v.string(), v.number()]) });
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
    throw StemcellUnreadable({ file, why: damageOf(cause) }, { cause });
  }
}

async function manifestOf(file: string): Promise<string | undefined> {
  const source = createReadStream(file);
  const unzipped = createGunzip();
  source.on("error", (error) => unzipped.destroy(error));
  const decoder = createTarDecoder({ strict: true });
  const entries = Readable.toWeb(source.pipe(unzipped)).pipeThrough(decoder);
  try {
    for await (const { header, body } of entries as AsyncIterable<ParsedTarEntry>) {
      if (header.name.replace(/^\.\//, "") === "stemcell.MF" && header.size <= LARGEST)
        return await text(body);
      await body.cancel();
    }
    return undefined;
  } finally {
    source.destroy();
    unzipped.destroy();
  }
}
