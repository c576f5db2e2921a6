import type { Command } from "../command.ts";
import { changeState, convergeOptions, fix, skipDrain, stateArguments } from "../states/change-state.ts";

export const recreate: Command = {
  name: "recreate",
  summary: "give instances new VMs; their disks stay",
  topic: "deployments",
  arguments: stateArguments,
  options: [skipDrain, fix, { flags: "--dry-run", about: "plan it and change nothing" }, ...convergeOptions],
  examples: [["slipway -d shop recreate db/0", "a new VM with the same disk"]],
  run: (given, tools) => changeState("recreate", given, tools),
};
