import { systemExec } from "@slipway/kernel/exec";
import type { Command } from "../command.ts";
import { dirOption } from "../releases/dir-option.ts";

/** `slipway vendor-package` */
export const vendorPackage: Command = {
  name: "vendor-package",
  summary: "use a package of another release in yours: its archive, not its source",
  topic: "release authors",
  arguments: [
    { name: "<package>", about: "its name" },
    { name: "[src-dir]", about: "the directory of the release that has it (the one you are in)" },
  ],
  options: [dirOption, { flags: "--prefix <prefix>", about: "put before its name, and a minus" }],
  examples: [["slipway vendor-package golang-1.23-linux ~/golang-release", ""]],
  async run(given, tools) {
    const [{ openReleaseDirectory }, { vendorPackage: vendor }, { expanded }] = await Promise.all([
      import("../releases/release-directory.ts"),
      import("../releases/vendor.ts"),
      import("../interpolate/read-text.ts"),
    ]);
    const all = { ...tools, exec: systemExec };
    const from = await openReleaseDirectory(expanded(given.argument(1) ?? "."), all);
    const to = await openReleaseDirectory(given.text("dir"), all);
    await vendor(from, to, given.argument(0) ?? "", given.text("prefix"));
    return 0;
  },
};
