import type { Command } from "../command.ts";
import { documentOptions } from "../interpolate/document.ts";

/** Upstream's `int`: what a document is once operations and variables are applied. */
export const interpolate: Command = {
  name: "interpolate",
  aliases: ["int"],
  summary: "print a document with operations and variables applied",
  topic: "documents",
  arguments: [{ name: "<path>", about: "the document; - reads standard input" }],
  options: [
    ...documentOptions,
    { flags: "--path <path>", about: "print only what stands there: /instance_groups/name=web" },
    { flags: "--var-errs", about: "every variable must have a value" },
    { flags: "--var-errs-unused", about: "every variable given must be used" },
  ],
  examples: [
    ["slipway interpolate shop.yml -o ops.yml -v size=2", "what would be deployed"],
    ["slipway interpolate env.yml --vars-store creds.yml --path /admin_password", "one value"],
  ],
  async run(given, tools) {
    const { interpolated } = await import("../interpolate/interpolated.ts");
    tools.ui.block(await interpolated(given.argument(0) ?? "-", given, tools));
    return 0;
  },
};
