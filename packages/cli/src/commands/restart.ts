import type { Command } from "../command.ts";
import { changeState, convergeOptions, skipDrain, stateArguments } from "../states/change-state.ts";

export const restart: Command = {
  name: "restart",
  summary: "stop and start instances",
  topic: "deployments",
  arguments: stateArguments,
  options: [skipDrain, ...convergeOptions],
  examples: [["slipway -d shop restart db", "a group, one after the other"]],
  run: (given, tools) => changeState("restart", given, tools),
};
