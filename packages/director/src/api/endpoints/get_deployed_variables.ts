import { deployedVariable } from "@slipway/protocol/director/variable";
import { deploymentsUsing } from "../../store/variable-sets.ts";
import { param } from "../call.ts";
import { canAccess } from "../permissions.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Deployments whose last successful deploy uses a variable, as far as the caller may read them. */
export const getDeployedVariables = endpoint({ reply: deployedVariable }, async (call, { db }) => {
  const using = await deploymentsUsing(db, param(call, "name"));
  return json({
    deployments: using
      .filter(({ teams }) => canAccess(call.access, "read", teams))
      .map(({ deployment, id }) => ({ name: deployment, version: id })),
  });
});
