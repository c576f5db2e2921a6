import { errand } from "@slipway/protocol/director/errand";
import * as v from "valibot";
import { pathSegment } from "../api/request-path.ts";
import type { Command } from "../command.ts";

export const errands: Command = {
  name: "errands",
  aliases: ["es"],
  summary: "list the errands of a deployment",
  topic: "deployments",
  examples: [["slipway -d shop errands", ""]],
  async run(_given, { ui, director, mustDeployment }) {
    const api = await director();
    const path = `/deployments/${pathSegment(mustDeployment())}/errands`;
    const found = await api.json({ method: "GET", path }, v.array(errand));
    ui.table({
      content: "errands",
      header: { name: "Name" },
      rows: found.map(({ name }) => [name]).sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
    });
    return 0;
  },
};
