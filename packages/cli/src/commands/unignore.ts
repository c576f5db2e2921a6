import type { Command } from "../command.ts";
import { setIgnored } from "../states/set-ignored.ts";

export const unignore: Command = {
  name: "unignore",
  summary: "include an ignored instance in deploys again",
  topic: "deployments",
  arguments: [{ name: "<instance>", about: "group/id or group/index", completes: "instance" }],
  examples: [["slipway -d shop unignore db/0", ""]],
  run: (given, tools) => setIgnored(false, given, tools),
};
