import type { Command } from "../command.ts";
import { printTypedConfig } from "../configs/print-typed-config.ts";

export const cloudConfig: Command = {
  name: "cloud-config",
  aliases: ["cc"],
  summary: "print the cloud config",
  topic: "configuration",
  options: [{ flags: "--name <name>", about: "of the config (default)" }],
  examples: [["slipway cloud-config > cloud-config.yml", "to change it"]],
  run: (given, tools) => printTypedConfig("cloud", given.text("name") ?? "", tools),
};
