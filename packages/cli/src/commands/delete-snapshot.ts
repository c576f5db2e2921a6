import { snapshot } from "@slipway/protocol/director/snapshot";
import * as v from "valibot";
import { pathSegment } from "../api/request-path.ts";
import { runDeletion } from "../api/run-task.ts";
import type { Command } from "../command.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";

export const deleteSnapshot: Command = {
  name: "delete-snapshot",
  summary: "delete a snapshot of a disk",
  topic: "deployments",
  arguments: [{ name: "<cid>", about: "id of the snapshot in its cloud, as `snapshots` shows it" }],
  examples: [["slipway -d shop delete-snapshot snap-1", ""]],
  async run(given, { ui, director, mustDeployment }) {
    const api = await director();
    const path = `/deployments/${pathSegment(mustDeployment())}/snapshots`;
    const cid = given.argument(0) ?? "";
    await requireConfirmation(ui);
    await runDeletion(api, { method: "DELETE", path: `${path}/${pathSegment(cid)}` }, async () =>
      (await api.json({ method: "GET", path }, v.array(snapshot))).some((one) => one.snapshot_cid === cid),
    );
    return 0;
  },
};
