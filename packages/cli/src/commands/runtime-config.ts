import type { Command } from "../command.ts";
import { printTypedConfig } from "../configs/print-typed-config.ts";

export const runtimeConfig: Command = {
  name: "runtime-config",
  aliases: ["rc"],
  summary: "print the runtime config",
  topic: "configuration",
  options: [{ flags: "--name <name>", about: "of the config (default)" }],
  examples: [["slipway runtime-config", ""]],
  run: (given, tools) => printTypedConfig("runtime", given.text("name") ?? "", tools),
};
