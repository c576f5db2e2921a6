import { piece } from "../api/request-path.ts";
import { runTask } from "../api/run-task.ts";
import type { Command } from "../command.ts";
import { confirmed } from "../ui/confirmed.ts";

export const orphanDisk: Command = {
  name: "orphan-disk",
  summary: "take a disk from its instance and keep it as an orphan",
  topic: "configuration",
  arguments: [{ name: "<cid>", about: "of the disk" }],
  examples: [["slipway orphan-disk disk-d73ca250", ""]],
  async run(given, { ui, director }) {
    const api = await director();
    await confirmed(ui);
    const path = `/disks/${piece(given.argument(0) ?? "")}`;
    await runTask(api, { method: "DELETE", path, query: { orphan: "true" } });
    return 0;
  },
};
