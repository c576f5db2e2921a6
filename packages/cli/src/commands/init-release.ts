import { resolve } from "node:path";
import type { Command } from "../command.ts";
import { dirOption } from "../releases/dir-option.ts";

/** `slipway init-release` */
export const initRelease: Command = {
  name: "init-release",
  summary: "make the directory of a new release",
  topic: "release authors",
  options: [dirOption, { flags: "--git", about: "make it a git repository too" }],
  examples: [["slipway init-release --dir shop-release --git", "the release is called shop"]],
  async run(given, { env }) {
    const [{ initRelease: init }, { systemExec }, { givenEnv }] = await Promise.all([
      import("../releases/init.ts"),
      import("@slipway/kernel/exec"),
      import("../releases/release-directory.ts"),
    ]);
    const git = given.flag("git") ? { exec: systemExec, env: givenEnv(env) } : undefined;
    await init(resolve(given.text("dir") ?? "."), { git });
    return 0;
  },
};
