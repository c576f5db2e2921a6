import type { Command } from "../command.ts";

export const diffConfig: Command = {
  name: "diff-config",
  summary: "compare two configs, by id or content",
  topic: "configuration",
  options: [
    { flags: "--from-id <id>", about: "id of the first config" },
    { flags: "--to-id <id>", about: "id of the second config" },
    { flags: "--from-content <path>", about: "path of the first config" },
    { flags: "--to-content <path>", about: "path of the second config" },
  ],
  examples: [["slipway diff-config --from-id 3 --to-id 4", ""]],
  async run(given, tools) {
    const { runDiffConfig } = await import("../deploy/diff-config.ts");
    await runDiffConfig(given, tools);
    return 0;
  },
};
