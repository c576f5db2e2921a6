import { pathSegment } from "../api/request-path.ts";
import { runTask } from "../api/run-task.ts";
import type { Command } from "../command.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";

export const deleteVm: Command = {
  name: "delete-vm",
  summary: "delete a VM; its instance and its disk stay, `cloud-check` or a deploy makes a new one",
  topic: "configuration",
  arguments: [{ name: "<cid>", about: "id of the VM in its cloud, as `vms` shows it" }],
  examples: [["slipway delete-vm vm-89709b0a", "as `slipway -d shop vms` lists it"]],
  async run(given, { ui, director }) {
    const api = await director();
    await requireConfirmation(ui);
    await runTask(api, { method: "DELETE", path: `/vms/${pathSegment(given.argument(0) ?? "")}` });
    return 0;
  },
};
