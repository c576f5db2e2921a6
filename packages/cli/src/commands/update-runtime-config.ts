import type { Command } from "../command.ts";
import { documentOptions } from "../interpolate/document.ts";

export const updateRuntimeConfig: Command = {
  name: "update-runtime-config",
  aliases: ["urc"],
  summary: "save a runtime config: addons and what all deployments have",
  topic: "configuration",
  arguments: [{ name: "<path>", about: "the config; - reads standard input" }],
  options: [
    ...documentOptions,
    { flags: "--name <name>", about: "of the config (default)" },
    { flags: "--no-redact", about: "show secrets in the difference" },
    {
      flags: "--fix-releases",
      about: "upload the config's releases again, and replace what is there of them",
    },
  ],
  examples: [["slipway update-runtime-config runtime.yml", ""]],
  async run(given, tools) {
    const { updateTypedConfig } = await import("../deploy/update-typed-config.ts");
    await updateTypedConfig("runtime", given, tools);
    return 0;
  },
};
