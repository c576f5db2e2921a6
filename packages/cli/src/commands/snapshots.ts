import { snapshot } from "@slipway/protocol/director/snapshot";
import * as v from "valibot";
import { pathSegment } from "../api/request-path.ts";
import type { Command } from "../command.ts";
import { timeText } from "../ui/time-text.ts";

export const snapshots: Command = {
  name: "snapshots",
  summary: "list the snapshots of a deployment's disks",
  topic: "deployments",
  arguments: [{ name: "[slug]", about: "taken for upstream's sake: all are listed", completes: "instance" }],
  examples: [["slipway -d shop snapshots", ""]],
  async run(_given, { ui, director, mustDeployment }) {
    const api = await director();
    const path = `/deployments/${pathSegment(mustDeployment())}/snapshots`;
    const found = await api.json({ method: "GET", path }, v.array(snapshot));
    ui.table({
      content: "snapshots",
      header: { instance: "Instance", cid: "CID", created_at: "Created At", clean: "Clean" },
      rows: found.map(({ job, index, snapshot_cid, created_at, clean }) => [
        `${job}/${index ?? "?"}`,
        snapshot_cid,
        timeText(created_at),
        String(clean),
      ]),
    });
    return 0;
  },
};
