import type { Command } from "../command.ts";
import { documentOptions } from "../interpolate/document.ts";

export const updateCloudConfig: Command = {
  name: "update-cloud-config",
  aliases: ["ucc"],
  summary: "save a cloud config: networks, AZs, VM and disk types",
  topic: "configuration",
  arguments: [{ name: "<path>", about: "the config; - reads standard input" }],
  options: [...documentOptions, { flags: "--name <name>", about: "of the config (default)" }],
  examples: [["slipway update-cloud-config cloud-config.yml", "shows what changes, and asks"]],
  async run(given, tools) {
    const { updateTypedConfig } = await import("../deploy/update-typed-config.ts");
    await updateTypedConfig("cloud", given, tools);
    return 0;
  },
};
