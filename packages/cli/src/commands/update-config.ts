import type { Command } from "../command.ts";
import { documentOptions } from "../interpolate/document.ts";

export const updateConfig: Command = {
  name: "update-config",
  aliases: ["uc"],
  summary: "save a config of any type",
  topic: "configuration",
  arguments: [{ name: "<path>", about: "the config; - reads standard input" }],
  options: [
    { flags: "--type <type>", about: "cloud, runtime, cpi, deploy, resurrection or another" },
    { flags: "--name <name>", about: "of the config" },
    { flags: "--expected-latest-id <id>", about: "refuse if another config has become the latest" },
    ...documentOptions,
  ],
  examples: [["slipway update-config --type cloud --name zones zones.yml", "beside the default one"]],
  async run(given, tools) {
    const { runUpdateConfig } = await import("../deploy/update-config.ts");
    await runUpdateConfig(given, tools);
    return 0;
  },
};
