import { listDeployments } from "../api/deployments.ts";
import { pathSegment } from "../api/request-path.ts";
import { runDeletion } from "../api/run-task.ts";
import type { Command } from "../command.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";

export const deleteDeployment: Command = {
  name: "delete-deployment",
  aliases: ["deld"],
  summary: "delete a deployment; its disks are kept as orphans",
  topic: "deployments",
  options: [{ flags: "--force", about: "go on past errors" }],
  examples: [["slipway -d shop delete-deployment", "VMs go, disks become orphans"]],
  async run(given, { ui, director, mustDeployment }) {
    const api = await director();
    const name = mustDeployment();
    await requireConfirmation(ui);
    const force = given.flag("force") ? "true" : undefined;
    await runDeletion(
      api,
      { method: "DELETE", path: `/deployments/${pathSegment(name)}`, query: { force } },
      async () => (await listDeployments(api)).some((one) => one.name === name),
    );
    return 0;
  },
};
