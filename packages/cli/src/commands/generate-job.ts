import { resolve } from "node:path";
import type { Command } from "../command.ts";
import { dirOption } from "../releases/dir-option.ts";

/** `slipway generate-job` */
export const generateJob: Command = {
  name: "generate-job",
  summary: "add an empty job to a release",
  topic: "release authors",
  arguments: [{ name: "<name>", about: "name of the job" }],
  options: [dirOption],
  examples: [["slipway generate-job web", ""]],
  async run(given) {
    const { generateJob: generate } = await import("../releases/generate.ts");
    await generate(resolve(given.text("dir") ?? "."), given.argument(0) ?? "");
    return 0;
  },
};
