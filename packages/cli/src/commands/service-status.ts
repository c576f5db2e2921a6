import type { Command } from "../command.ts";
import { SERVICE_OPTIONS } from "../service/options.ts";

/** Ours: upstream's Director is a job that monit keeps running. */
export const serviceStatus: Command = {
  name: "service status",
  summary: "show whether the Director is installed as a systemd service, and whether it runs",
  topic: "this machine",
  options: [...SERVICE_OPTIONS],
  examples: [["slipway service status", ""]],
  async run(given, tools) {
    await (await import("../service/systemd.ts")).showService(given, tools);
    return 0;
  },
};
