import type { Command } from "../command.ts";
import { printTypedConfig } from "../configs/print-typed-config.ts";

export const cpiConfig: Command = {
  name: "cpi-config",
  summary: "print the CPI config",
  topic: "configuration",
  run: (_given, tools) => printTypedConfig("cpi", undefined, tools),
};
