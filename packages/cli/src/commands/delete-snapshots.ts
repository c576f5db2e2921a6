import { pathSegment } from "../api/request-path.ts";
import { runTask } from "../api/run-task.ts";
import type { Command } from "../command.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";

export const deleteSnapshots: Command = {
  name: "delete-snapshots",
  summary: "delete all snapshots of a deployment's disks",
  topic: "deployments",
  examples: [["slipway -d shop delete-snapshots", ""]],
  async run(_given, { ui, director, mustDeployment }) {
    const api = await director();
    const path = `/deployments/${pathSegment(mustDeployment())}/snapshots`;
    await requireConfirmation(ui);
    await runTask(api, { method: "DELETE", path });
    return 0;
  },
};
