import { text } from "node:stream/consumers";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { damageOf } from "@slipway/engine/stemcells/extract";
import { archiveBytes } from "@slipway/kernel/tar/file";
import { readTar } from "@slipway/kernel/tar/read";
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
  const refuse = (why: string) => StemcellUnreadable({ file, why });
  for await (const { entry, body } of readTar(archiveBytes(file, { gzip: true }), { refuse, end: "needed" }))
    if (entry.name.replace(/^\.\//, "") === "stemcell.MF" && entry.size <= LARGEST) return await text(body);
  return undefined;
}
