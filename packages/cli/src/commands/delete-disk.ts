import { orphanDisk } from "@slipway/protocol/director/disk";
import * as v from "valibot";
import { pathSegment } from "../api/request-path.ts";
import { runDeletion } from "../api/run-task.ts";
import type { Command } from "../command.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";

export const deleteDisk: Command = {
  name: "delete-disk",
  summary: "delete an orphaned disk and what is on it",
  topic: "configuration",
  arguments: [{ name: "<cid>", about: "id of the disk in its cloud, as `disks --orphaned` shows it" }],
  examples: [["slipway delete-disk disk-d73ca250", "as `slipway disks --orphaned` lists it"]],
  async run(given, { ui, director }) {
    const api = await director();
    const cid = given.argument(0) ?? "";
    await requireConfirmation(ui);
    await runDeletion(api, { method: "DELETE", path: `/disks/${pathSegment(cid)}` }, async () =>
      (await api.json({ method: "GET", path: "/disks" }, v.array(orphanDisk))).some(
        (one) => one.disk_cid === cid,
      ),
    );
    return 0;
  },
};
