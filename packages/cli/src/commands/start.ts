import type { Command } from "../command.ts";
import { changeState, convergeOptions, stateArguments } from "../states/change-state.ts";

export const start: Command = {
  name: "start",
  summary: "start stopped instances",
  topic: "deployments",
  arguments: stateArguments,
  options: convergeOptions,
  examples: [["slipway -d shop start db/0", "one instance"]],
  run: (given, tools) => changeState("start", given, tools),
};
