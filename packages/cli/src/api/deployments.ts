import { type Deployment, deployment } from "@slipway/protocol/director/deployment";
import * as v from "valibot";
import type { DirectorApi } from "./director-api.ts";

export async function listDeployments(api: DirectorApi): Promise<readonly Deployment[]> {
  const query = { exclude_configs: "true" };
  return await api.json({ method: "GET", path: "/deployments", query }, v.array(deployment));
}

/** The one named, or all. */
export const deploymentNames = async (
  api: DirectorApi,
  named: string | undefined,
): Promise<readonly string[]> =>
  named === undefined ? (await listDeployments(api)).map(({ name }) => name) : [named];

const slugs = (list: Deployment["releases"]) =>
  (list ?? []).map(({ name, version }) => `${name}/${version}`).join("\n");

/** Cells of the columns that every table of deployments has. */
export const deploymentCells = (one: Deployment) => ({
  name: one.name,
  releases: slugs(one.releases),
  stemcells: slugs(one.stemcells),
  teams: (one.teams ?? []).join("\n"),
});
