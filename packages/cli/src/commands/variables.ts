import { variable } from "@slipway/protocol/director/variable";
import * as v from "valibot";
import { pathSegment } from "../api/request-path.ts";
import type { Command } from "../command.ts";

export const variables: Command = {
  name: "variables",
  aliases: ["vars"],
  summary: "list the variables a deployment uses, without their values",
  topic: "deployments",
  options: [{ flags: "--type <type>", about: "only those of a type: password, certificate, rsa, ssh, user" }],
  examples: [["slipway -d shop variables --type certificate", ""]],
  async run(given, { ui, director, mustDeployment }) {
    const api = await director();
    const path = `/deployments/${pathSegment(mustDeployment())}/variables`;
    const type = given.text("type");
    const query = type === undefined ? {} : { type };
    const found = await api.json({ method: "GET", path, query }, v.array(variable));
    ui.table({
      content: "variables",
      header: { id: "ID", name: "Name" },
      rows: [...found].sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ id, name }) => [id, name]),
    });
    return 0;
  },
};
