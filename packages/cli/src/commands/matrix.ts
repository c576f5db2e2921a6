import { info } from "@slipway/protocol/director/info";
import { vm } from "@slipway/protocol/director/instance";
import type { VmVersions } from "@slipway/protocol/mixes";
import * as v from "valibot";
import { deploymentNames } from "../api/deployments.ts";
import type { DirectorApi } from "../api/director-api.ts";
import { pathSegment } from "../api/request-path.ts";
import type { Command } from "../command.ts";
import { wrapped } from "../ui/wrap.ts";

export const matrix: Command = {
  name: "matrix",
  summary: "show the eight mixes of Director, CPI and stemcell versions, and the mix of each VM",
  topic: "inspect",
  async run(_, { ui, director, deployment }) {
    const api = await director();
    const { slipway } = await api.json({ method: "GET", path: "/info" }, info);
    const names = await deploymentNames(api, deployment);
    const all = (await Promise.all(names.map((name) => vmsOf(api, name)))).flat();
    const known = all.filter((vm) => vm !== undefined);
    const { mixesSentence, mixesTable } = await import("../matrix/table.ts");
    // A Director that does not say is not ours: those speak 2 and newer.
    const version = slipway?.cpi_api_version ?? 2;
    ui.table(mixesTable(known, version));
    const unknown = all.length - known.length;
    const sentences = [
      mixesSentence(known, version),
      ...(unknown === 0
        ? []
        : [`Of ${unknown} more this Director does not say which versions were agreed on.`]),
    ];
    for (const line of sentences.flatMap((one) => wrapped(one, ui.columns))) ui.line(line);
    return 0;
  },
};

async function vmsOf(api: DirectorApi, deployment: string): Promise<readonly (VmVersions | undefined)[]> {
  const vms = await api.json(
    { method: "GET", path: `/deployments/${pathSegment(deployment)}/vms` },
    v.array(vm),
  );
  return vms.map(({ job, index, slipway }) =>
    slipway === null || slipway === undefined
      ? undefined
      : {
          name: `${deployment}: ${job}/${index}`,
          apiVersion: slipway.cpi_api_version,
          stemcell: slipway.stemcell_api_version,
        },
  );
}
