import { resolve } from "node:path";
import type { Command } from "../command.ts";
import { dirOption } from "../releases/dir-option.ts";

/** `slipway generate-package` */
export const generatePackage: Command = {
  name: "generate-package",
  summary: "add an empty package to a release",
  topic: "release authors",
  arguments: [{ name: "<name>", about: "name of the package" }],
  options: [dirOption],
  examples: [["slipway generate-package web", ""]],
  async run(given) {
    const { generatePackage: generate } = await import("../releases/generate.ts");
    await generate(resolve(given.text("dir") ?? "."), given.argument(0) ?? "");
    return 0;
  },
};
