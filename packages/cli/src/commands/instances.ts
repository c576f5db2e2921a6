import type { Command } from "../command.ts";
import { showInstances } from "../instances/show.ts";

export const instances: Command = {
  name: "instances",
  aliases: ["is"],
  summary: "list the instances of a deployment, or of all",
  topic: "deployments",
  options: [
    { flags: "-i, --details", about: "also VM, disk and agent ids" },
    { flags: "--vitals", about: "also uptime, load, memory and disks" },
    { flags: "-p, --ps", about: "also processes" },
    { flags: "-f, --failing", about: "only those that are not running" },
  ],
  examples: [
    ["slipway -d shop instances --details", "with VM, disk and agent ids"],
    ["slipway instances --json", "for a script"],
  ],
  run: (given, tools) =>
    showInstances(
      {
        content: "instances",
        details: given.flag("details"),
        vitals: given.flag("vitals"),
        processes: given.flag("ps"),
        failing: given.flag("failing"),
        cloudProperties: false,
      },
      tools,
    ),
};
