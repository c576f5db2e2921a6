import type { Command } from "../command.ts";
import { SERVICE_OPTIONS } from "../service/options.ts";

/** Ours: upstream's Director is a job that monit keeps running. */
export const serviceInstall: Command = {
  name: "service install",
  summary: "start the Director with this machine, or with your session, as a systemd service",
  topic: "this machine",
  options: [...SERVICE_OPTIONS, { flags: "--print", about: "only print the unit" }],
  examples: [
    ["slipway service install", "a unit of systemd, started at once"],
    ["slipway service install --print", "the unit, for other tools to install"],
  ],
  async run(given, tools) {
    await (await import("../service/systemd.ts")).installService(given, tools);
    return 0;
  },
};
