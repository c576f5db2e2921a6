import { resolve } from "node:path";
import type { Command } from "../command.ts";
import { expanded } from "../interpolate/read-text.ts";
import { dirOption } from "../releases/dir-option.ts";

/** `slipway add-blob` */
export const addBlob: Command = {
  name: "add-blob",
  summary: "add a large file to a release, beside git",
  topic: "release authors",
  arguments: [
    { name: "<path>", about: "the file" },
    { name: "<blobs-path>", about: "what packages call it: its path below blobs/" },
  ],
  options: [dirOption],
  examples: [["slipway add-blob ~/Downloads/nginx.tar.gz nginx/nginx.tar.gz", ""]],
  async run(given, { ui }) {
    const { addBlob: add } = await import("../releases/track-blobs.ts");
    const path = given.argument(1) ?? "";
    await add(resolve(given.text("dir") ?? "."), resolve(expanded(given.argument(0) ?? "")), path);
    ui.aside(`Added blob '${path}'`);
    return 0;
  },
};
