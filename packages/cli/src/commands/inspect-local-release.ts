import { resolve } from "node:path";
import type { Command } from "../command.ts";
import { expanded } from "../interpolate/read-text.ts";

/** `slipway inspect-local-release` */
export const inspectLocalRelease: Command = {
  name: "inspect-local-release",
  summary: "show what a release's tarball holds, and check all of it",
  topic: "release authors",
  arguments: [{ name: "<path-to-release>", about: "the .tgz" }],
  examples: [["slipway inspect-local-release shop.tgz", ""]],
  async run(given, { ui, stop }) {
    const [{ withTarball }, { showRelease }] = await Promise.all([
      import("../releases/open-tarball.ts"),
      import("../releases/tables.ts"),
    ]);
    const path = given.argument(0) ?? "";
    await withTarball(resolve(expanded(path)), stop, async (release) => showRelease(ui, release, path));
    return 0;
  },
};
