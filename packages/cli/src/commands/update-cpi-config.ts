import type { Command } from "../command.ts";
import { documentOptions } from "../interpolate/document.ts";

export const updateCpiConfig: Command = {
  name: "update-cpi-config",
  summary: "save a CPI config: the clouds the Director works with",
  topic: "configuration",
  arguments: [{ name: "<path>", about: "the config; - reads standard input" }],
  options: [...documentOptions, { flags: "--no-redact", about: "show secrets in the difference" }],
  examples: [["slipway update-cpi-config cpis.yml", ""]],
  async run(given, tools) {
    const { updateTypedConfig } = await import("../deploy/update-typed-config.ts");
    await updateTypedConfig("cpi", given, tools);
    return 0;
  },
};
