import { resolve } from "node:path";
import type { Command, Given } from "../command.ts";
import { BadStemcellOption } from "../stemcells/errors.ts";
import { sizeText } from "../stemcells/size-text.ts";

/** `slipway stemcell repack` */
export const stemcellRepack: Command = {
  name: "stemcell repack",
  aliases: ["repack-stemcell"],
  summary: "Make a stemcell from another, with a different name, version, format or cloud properties",
  topic: "what they are made of",
  arguments: [
    { name: "<path-to-stemcell>", about: "the .tgz to start from" },
    { name: "<path-to-result>", about: "the .tgz to write" },
  ],
  options: [
    { flags: "--name <name>", about: "its new name" },
    { flags: "--version <version>", about: "its new version" },
    { flags: "--cloud-properties <yaml>", about: "put over those it has, key by key" },
    { flags: "--empty-image", about: "leave the image empty: a light stemcell" },
    { flags: "--format <format>", about: "in place of the formats it has", repeats: true },
  ],
  async run(given, { ui }) {
    const { repackStemcell } = await import("../stemcells/repack.ts");
    const to = resolve(path(given, 1, "path-to-result"));
    const { size, sha1 } = await repackStemcell({
      from: path(given, 0, "path-to-stemcell"),
      to,
      name: given.text("name"),
      version: given.text("version"),
      cloudProperties: given.text("cloud-properties"),
      emptyImage: given.flag("empty-image"),
      formats: given.texts("format"),
    });
    ui.table({
      content: "stemcell",
      transpose: true,
      header: { file: "File", size: "Size", sha1: "SHA1" },
      rows: [[to, sizeText(size), sha1]],
    });
    return 0;
  },
};

function path(given: Given, place: number, name: string): string {
  const value = given.argument(place);
  if (value === undefined) throw BadStemcellOption({ option: name, why: "it is missing" });
  return value;
}
