import { resolve } from "node:path";
import type { Command } from "../command.ts";
import { dirOption } from "../releases/dir-option.ts";

/** `slipway remove-blob` */
export const removeBlob: Command = {
  name: "remove-blob",
  summary: "take a blob out of a release",
  topic: "release authors",
  arguments: [{ name: "<blobs-path>", about: "its path below blobs/" }],
  options: [dirOption],
  examples: [["slipway remove-blob nginx/nginx.tar.gz", ""]],
  async run(given, { ui }) {
    const { removeBlob: remove } = await import("../releases/track-blobs.ts");
    const path = given.argument(0) ?? "";
    await remove(resolve(given.text("dir") ?? "."), path);
    ui.aside(`Removed blob '${path}'`);
    return 0;
  },
};
