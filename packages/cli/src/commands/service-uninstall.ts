import type { Command } from "../command.ts";
import { SERVICE_OPTIONS } from "../service/options.ts";

/** Ours: upstream's Director is a job that monit keeps running. */
export const serviceUninstall: Command = {
  name: "service uninstall",
  summary: "stop the systemd service of the Director and remove it; state and disks are kept",
  topic: "this machine",
  options: [...SERVICE_OPTIONS],
  examples: [["slipway service uninstall", "the opposite of `service install`"]],
  async run(given, tools) {
    await (await import("../service/systemd.ts")).removeService(given, tools);
    return 0;
  },
};
