import type { Command } from "../command.ts";
import { changeState, convergeOptions, skipDrain, stateArguments } from "../states/change-state.ts";

export const stop: Command = {
  name: "stop",
  summary: "stop instances; with --hard their VMs are deleted and their disks kept",
  topic: "deployments",
  arguments: stateArguments,
  options: [
    { flags: "--soft", about: "stop the processes only (default)" },
    { flags: "--hard", about: "delete the VM, keep the disk" },
    skipDrain,
    ...convergeOptions,
  ],
  examples: [
    ["slipway -d shop stop db/0", "its processes"],
    ["slipway -d shop stop --hard db", "the VMs of a group; disks stay"],
  ],
  run: (given, tools) => changeState("stop", given, tools),
};
