import { deploymentConfig } from "@slipway/protocol/director/deployment";
import * as v from "valibot";
import { deploymentCells, listDeployments } from "../api/deployments.ts";
import type { Command } from "../command.ts";
import { NoSuchDeployment } from "./errors.ts";

export const deployment: Command = {
  name: "deployment",
  aliases: ["dep"],
  summary: "show a deployment",
  topic: "deployments",
  examples: [["slipway -d shop deployment", ""]],
  async run(_given, { ui, director, mustDeployment }) {
    const api = await director();
    const name = mustDeployment();
    const found = (await listDeployments(api)).find((one) => one.name === name);
    if (found === undefined) throw NoSuchDeployment({ name });
    // The brackets are sent as they are, as upstream does.
    const path = `/deployment_configs?deployment[]=${encodeURIComponent(name)}`;
    const configs = await api.json({ method: "GET", path }, v.array(deploymentConfig));
    const { releases, stemcells, teams } = deploymentCells(found);
    ui.table({
      content: "deployments",
      header: {
        name: "Name",
        release_s: "Release(s)",
        stemcell_s: "Stemcell(s)",
        config_s: "Config(s)",
        team_s: "Team(s)",
      },
      rows: [
        [
          name,
          releases,
          stemcells,
          configs.map(({ config }) => `${config.id} ${config.type}/${config.name}`).join("\n"),
          teams,
        ],
      ],
    });
    return 0;
  },
};
