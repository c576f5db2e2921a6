import { pathSegment } from "../api/request-path.ts";
import { runTask } from "../api/run-task.ts";
import type { Command } from "../command.ts";
import { instanceSlug } from "../states/slug.ts";

export const takeSnapshot: Command = {
  name: "take-snapshot",
  summary: "take snapshots of the disks of a deployment or of one instance",
  topic: "deployments",
  arguments: [
    { name: "[slug]", about: "group/id or group/index; without it all instances", completes: "instance" },
  ],
  examples: [
    ["slipway -d shop take-snapshot db/0", ""],
    ["slipway -d shop take-snapshot", "of all its disks"],
  ],
  async run(given, { director, mustDeployment }) {
    const api = await director();
    const deployment = `/deployments/${pathSegment(mustDeployment())}`;
    const asked = given.argument(0);
    const one = asked === undefined ? undefined : instanceSlug(asked);
    const of = one === undefined ? "" : `/jobs/${pathSegment(one.group)}/${pathSegment(one.id)}`;
    await runTask(api, { method: "POST", path: `${deployment}${of}/snapshots` });
    return 0;
  },
};
