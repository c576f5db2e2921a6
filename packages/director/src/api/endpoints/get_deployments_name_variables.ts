import { variable, variablesQuery } from "@slipway/protocol/director/variable";
import * as v from "valibot";
import { deploymentVariables } from "../../store/variable-sets.ts";
import { param, queryString } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** `bosh variables`: names and ids of the versions that are in use. */
export const getDeploymentsNameVariables = endpoint(
  { query: variablesQuery, reply: v.array(variable) },
  async (call, { db }) => {
    const { name } = await deploymentOf(db, param(call, "deployment"));
    const used = await deploymentVariables(db, name, queryString(call.query, "type"));
    return json(used.map(({ id, name: full }) => ({ id, name: full })));
  },
);
