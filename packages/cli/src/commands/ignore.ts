import type { Command } from "../command.ts";
import { setIgnored } from "../states/set-ignored.ts";

export const ignore: Command = {
  name: "ignore",
  summary: "exclude an instance from deploys, until `unignore`",
  topic: "deployments",
  arguments: [{ name: "<instance>", about: "group/id or group/index", completes: "instance" }],
  examples: [["slipway -d shop ignore db/0", "deploys pass it over"]],
  run: (given, tools) => setIgnored(true, given, tools),
};
