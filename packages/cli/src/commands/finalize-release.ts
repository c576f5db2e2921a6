import { resolve } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import type { Command } from "../command.ts";
import { expanded } from "../interpolate/read-text.ts";
import { dirOption } from "../releases/dir-option.ts";

/** `slipway finalize-release` */
export const finalizeRelease: Command = {
  name: "finalize-release",
  summary: "make a final release of a tarball that was tried as a dev one",
  topic: "release authors",
  arguments: [{ name: "<path>", about: "the tarball" }],
  options: [
    dirOption,
    { flags: "--name <name>", about: "its name (the one it has)" },
    { flags: "--version <version>", about: "its version (the next final one)" },
    { flags: "--force", about: "also where git has changes that are not committed" },
  ],
  examples: [["slipway finalize-release shop-0+dev.7.tgz --version 1.0", ""]],
  async run(given, tools) {
    const [releases, { finalizeRelease: finalize }, { gitState }, { withTarball }, { showRelease }] =
      await Promise.all([
        import("../releases/release-directory.ts"),
        import("../releases/create.ts"),
        import("../releases/git.ts"),
        import("../releases/open-tarball.ts"),
        import("../releases/tables.ts"),
      ]);
    const { ui, env, stop } = tools;
    const release = await releases.openReleaseDirectory(given.text("dir"), { ...tools, exec: systemExec });
    const git = { force: given.flag("force"), exec: systemExec, env: releases.givenEnv(env) };
    await gitState(release.dir, git);
    await withTarball(resolve(expanded(given.argument(0) ?? "")), stop, async (found) => {
      const name = given.text("name") ?? found.name;
      const built = await finalize(release, { ...found, name }, given.text("version"));
      ui.aside(`Added final release '${built.name}/${built.version}'`);
      showRelease(ui, built, undefined);
    });
    return 0;
  },
};
