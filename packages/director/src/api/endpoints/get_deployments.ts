import { deployment, deploymentsQuery } from "@slipway/protocol/director/deployment";
import * as v from "valibot";
import { type ConfigRecord, currentConfigs } from "../../store/configs.ts";
import { type DeploymentSummary, summarizeDeployments } from "../../store/deployments.ts";
import { deploymentLock, listLocks } from "../../tasks/locks.ts";
import { queryFlag } from "../call.ts";
import { canAccess } from "../permissions.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

export const getDeployments = endpoint(
  { query: deploymentsQuery, reply: v.array(deployment) },
  async ({ query, access }, { db }) => {
    const deployments = (await summarizeDeployments(db)).filter(({ teams }) =>
      canAccess(access, "read", teams),
    );
    const current = await currentConfigs(db, "cloud");
    const locks = queryFlag(query, "exclude_lock") ? [] : await listLocks(db);
    const locked = new Set(locks.map(({ type, resource }) => `lock:${type}:${resource.join(":")}`));
    return json(
      deployments.map((deployment) => ({
        name: deployment.name,
        ...(queryFlag(query, "exclude_configs") ? {} : { cloud_config: cloudConfigOf(deployment, current) }),
        ...(queryFlag(query, "exclude_releases") ? {} : { releases: deployment.releases }),
        ...(queryFlag(query, "exclude_stemcells") ? {} : { stemcells: deployment.stemcells }),
        ...(queryFlag(query, "exclude_lock") ? {} : { locked: locked.has(deploymentLock(deployment.name)) }),
        teams: [...deployment.teams],
      })),
    );
  },
);

function cloudConfigOf(
  { configs, teams }: DeploymentSummary,
  all: readonly Pick<ConfigRecord, "id" | "team">[],
): string {
  const current = all.filter(({ team }) => team === null || teams.includes(team)).map(({ id }) => id);
  const used = configs.filter(({ type }) => type === "cloud").map(({ id }) => id);
  if (used.length === 0) return "none";
  return used.length === current.length && used.every((id) => current.includes(id)) ? "latest" : "outdated";
}
