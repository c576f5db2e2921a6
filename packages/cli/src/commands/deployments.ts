import type { Deployment } from "@slipway/protocol/director/deployment";
import { deploymentCells, listDeployments } from "../api/deployments.ts";
import type { Command } from "../command.ts";

export const deployments: Command = {
  name: "deployments",
  aliases: ["ds", "deps"],
  summary: "list deployments",
  topic: "deployments",
  async run(_given, { ui, director }) {
    const all = await listDeployments(await director());
    ui.table({
      content: "deployments",
      header: { name: "Name", release_s: "Release(s)", stemcell_s: "Stemcell(s)", team_s: "Team(s)" },
      rows: [...all].sort(byName).map((one) => {
        const { name, releases, stemcells, teams } = deploymentCells(one);
        return [name, releases, stemcells, teams];
      }),
    });
    return 0;
  },
};

const byName = (a: Deployment, b: Deployment) => (a.name < b.name ? -1 : 1);
