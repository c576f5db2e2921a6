import { pathSegment } from "../api/request-path.ts";
import { runTask } from "../api/run-task.ts";
import type { Command } from "../command.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";

export const orphanDisk: Command = {
  name: "orphan-disk",
  summary: "take a disk from its instance and keep it as an orphan",
  topic: "configuration",
  arguments: [{ name: "<cid>", about: "id of the disk in its cloud" }],
  examples: [["slipway orphan-disk disk-d73ca250", ""]],
  async run(given, { ui, director }) {
    const api = await director();
    await requireConfirmation(ui);
    const path = `/disks/${pathSegment(given.argument(0) ?? "")}`;
    await runTask(api, { method: "DELETE", path, query: { orphan: "true" } });
    return 0;
  },
};
