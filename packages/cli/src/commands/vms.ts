import type { Command } from "../command.ts";
import { showInstances } from "../instances/show.ts";

export const vms: Command = {
  name: "vms",
  summary: "list the VMs (sandboxes) of a deployment, or of all",
  topic: "deployments",
  options: [
    { flags: "--vitals", about: "also uptime, load, memory and disks" },
    { flags: "--cloud-properties", about: "also the cloud properties they were made with" },
  ],
  examples: [["slipway -d shop vms --vitals", "with load, memory and disks"]],
  run: (given, tools) =>
    showInstances(
      {
        content: "vms",
        details: false,
        vitals: given.flag("vitals"),
        processes: false,
        failing: false,
        cloudProperties: given.flag("cloud-properties"),
      },
      tools,
    ),
};
