import * as v from "valibot";
import { deploymentCells, listDeployments } from "../api/deployment-wire.ts";
import type { Command } from "../command.ts";
import { NoSuchDeployment } from "./errors.ts";

const usedConfigs = v.array(
  v.object({ config: v.object({ id: v.number(), type: v.string(), name: v.string() }) }),
);

export const deployment: Command = {
  name: "deployment",
  aliases: ["dep"],
  summary: "show a deployment",
  topic: "deployments",
  async run(_given, { ui, director, mustDeployment }) {
    const api = await director();
    const name = mustDeployment();
    const found = (await listDeployments(api)).find((one) => one.name === name);
    if (found === undefined) throw NoSuchDeployment({ name });
    // The brackets are sent as they are, as upstream does.
    const path = `/deployment_configs?deployment[]=${encodeURIComponent(name)}`;
    const configs = await api.json({ method: "GET", path }, usedConfigs);
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
