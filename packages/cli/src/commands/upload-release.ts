import type { Command } from "../command.ts";
import { dirOption } from "../releases/dir-option.ts";
import { stemcellSlug } from "../uploads/release-slug.ts";

/** `slipway upload-release` */
export const uploadRelease: Command = {
  name: "upload-release",
  aliases: ["ur"],
  summary: "upload a release to the Director",
  topic: "configuration",
  arguments: [
    {
      name: "[path-or-url]",
      about: "a .tgz, a URL that the Director fetches itself, or git+URL; else the last one of the directory",
    },
  ],
  options: [
    dirOption,
    { flags: "--fix", about: "replace its jobs and packages where they are there already" },
    { flags: "--rebase", about: "give it the next version after the ones the Director has" },
    { flags: "--name <name>", about: "with --version: nothing is sent when this one is there already" },
    { flags: "--version <version>", about: "with --name; of a directory: which one of its releases" },
    { flags: "--sha1 <digest>", about: "of a URL: what is fetched must have this digest" },
    { flags: "--stemcell <os/version>", about: "of a compiled one: there already only if it is for this" },
  ],
  examples: [
    ["slipway upload-release shop.tgz", "a file: only the packages that the Director does not have"],
    ["slipway upload-release --dir shop", "the last one that was made there"],
    ["slipway upload-release --sha1 4f1e... https://example.org/shop.tgz", "the Director downloads it"],
  ],
  async run(given, tools) {
    const { sendRelease } = await import("../uploads/send-release.ts");
    const stemcell = given.text("stemcell");
    await sendRelease(
      {
        from: given.argument(0) ?? "",
        dir: given.text("dir"),
        name: given.text("name"),
        version: given.text("version"),
        sha1: given.text("sha1"),
        stemcell: stemcell === undefined ? undefined : stemcellSlug(stemcell),
        fix: given.flag("fix"),
        rebase: given.flag("rebase"),
      },
      tools,
    );
    return 0;
  },
};
