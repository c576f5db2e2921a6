import { deploymentConfig, deploymentConfigsQuery } from "@slipway/protocol/director/deployment";
import * as v from "valibot";
import { summarizeDeployments } from "../../store/deployments.ts";
import { queryList } from "../call.ts";
import { canAccess } from "../permissions.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** `deployment[]=x`, as often as wanted. */
export const getDeploymentConfigs = endpoint(
  { query: deploymentConfigsQuery, reply: v.array(deploymentConfig) },
  async ({ query, access }, { db }) => {
    const names = [...queryList(query, "deployment[]"), ...queryList(query, "deployment")];
    const all = await summarizeDeployments(db, names.length === 0 ? undefined : names);
    const seen = all.filter(({ teams }) => canAccess(access, "read", teams));
    const pairs = seen.flatMap(({ name, configs }) => configs.map((config) => ({ name, config })));
    return json(pairs.map(({ name, config }, index) => ({ id: index + 1, deployment: name, config })));
  },
);
