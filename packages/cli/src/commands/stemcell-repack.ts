import { resolve } from "node:path";
import type { Command } from "../command.ts";
import { sizeText } from "../ui/size-text.ts";

/** `slipway stemcell repack` */
export const stemcellRepack: Command = {
  name: "stemcell repack",
  aliases: ["repack-stemcell"],
  summary: "make a stemcell from another, with a different name, version, format or cloud properties",
  topic: "configuration",
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
  examples: [["slipway stemcell repack --version 1.1 stemcell.tgz new.tgz", ""]],
  async run(given, { ui }) {
    const { repackStemcell } = await import("../stemcells/repack.ts");
    const to = resolve(given.argument(1) ?? "");
    const { size, sha1 } = await repackStemcell({
      from: given.argument(0) ?? "",
      to,
      name: given.text("name"),
      version: given.text("version"),
      cloudProperties: given.text("cloud-properties"),
      emptyImage: given.flag("empty-image"),
      formats: given.texts("format"),
    });
    ui.table({
      content: "stemcell",
      count: null,
      transpose: true,
      header: { file: "File", size: "Size", sha1: "SHA1" },
      rows: [[to, sizeText(size), sha1]],
    });
    return 0;
  },
};
