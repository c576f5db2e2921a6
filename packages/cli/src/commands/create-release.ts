import { resolve } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import type { Command } from "../command.ts";
import { expanded } from "../interpolate/read-text.ts";
import { dirOption } from "../releases/dir-option.ts";

/** `slipway create-release` */
export const createRelease: Command = {
  name: "create-release",
  aliases: ["cr"],
  summary: "build a release of the directory of its source: a dev one, or a final one",
  topic: "release authors",
  arguments: [
    { name: "[path]", about: "a release that was made before: its file in dev_releases or releases" },
  ],
  options: [
    dirOption,
    { flags: "--name <name>", about: "its name (the one in config/final.yml)" },
    { flags: "--version <version>", about: "its version (the next one)" },
    { flags: "--timestamp-version", about: "the time as its dev version: 1+dev.<seconds>" },
    { flags: "--final", about: "make it a final release: its archives go to the blobstore" },
    {
      flags: "--tarball <path>",
      about: "write it to a file too; ((name)) and ((version)) may stand in its path",
    },
    { flags: "--force", about: "build what is not committed in git too" },
  ],
  examples: [
    ["slipway create-release --force --tarball app.tgz", "what is in the directory now, as one file"],
    ["slipway create-release --final --version 1.2.0", "one to be published"],
  ],
  async run(given, tools) {
    const [{ openReleaseDirectory }, { createDevRelease, finalizeRelease }, { readBuilt }, { showRelease }] =
      await Promise.all([
        import("../releases/release-directory.ts"),
        import("../releases/create.ts"),
        import("../releases/read-manifest.ts"),
        import("../releases/tables.ts"),
      ]);
    const { ui, clock, random } = tools;
    const release = await openReleaseDirectory(given.text("dir"), { ...tools, exec: systemExec });
    const version = given.text("version");
    const made = given.argument(0);
    let built = await (made === undefined
      ? createDevRelease(release, {
          ...{ name: given.text("name"), version, clock },
          timestampVersion: given.flag("timestamp-version"),
          force: given.flag("force"),
        })
      : readBuilt(release, resolve(expanded(made))));
    if (made === undefined) {
      ui.aside(`Added dev release '${built.name}/${built.version}'`);
      if (given.flag("final")) {
        built = await finalizeRelease(release, built, version);
        ui.aside(`Added final release '${built.name}/${built.version}'`);
      }
    }
    const asked = given.text("tarball");
    let tarball: string | undefined;
    if (asked !== undefined) {
      const { writeReleaseTarball } = await import("../releases/write-tarball.ts");
      tarball = resolve(
        expanded(asked).replaceAll("((name))", built.name).replaceAll("((version))", built.version),
      );
      await writeReleaseTarball(tarball, built, random);
    }
    showRelease(ui, built, tarball);
    return 0;
  },
};
