import { deploymentConfig, deploymentConfigsQuery } from "@slipway/protocol/director/deployment";
import * as v from "valibot";
import { summarizeDeployments } from "../../store/deployments.ts";
import { many } from "../call.ts";
import { mayTouch } from "../permissions.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** `deployment[]=x`, as often as wanted. */
export const getDeploymentConfigs = endpoint(
  { query: deploymentConfigsQuery, reply: v.array(deploymentConfig) },
  async ({ query, access }, { db }) => {
    const names = [...many(query, "deployment[]"), ...many(query, "deployment")];
    const all = await summarizeDeployments(db, names.length === 0 ? undefined : names);
    const seen = all.filter(({ teams }) => mayTouch(access, "read", teams));
    const pairs = seen.flatMap(({ name, configs }) => configs.map((config) => ({ name, config })));
    return json(pairs.map(({ name, config }, index) => ({ id: index + 1, deployment: name, config })));
  },
);
