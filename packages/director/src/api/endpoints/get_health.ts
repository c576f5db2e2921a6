import { health, healthQuery } from "@slipway/protocol/director/health";
import { healthWire, unwatched } from "../../health/wire.ts";
import { queryString } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** The fleet: what is wrong, since when, and what is being done about it. */
export const getHealth = endpoint({ query: healthQuery, reply: health }, async ({ query }, services) => {
  const deployment = queryString(query, "deployment");
  if (deployment !== undefined) await deploymentOf(services.db, deployment);
  const snapshot = services.health?.snapshot();
  return json(
    snapshot === undefined
      ? unwatched(services.health !== undefined)
      : healthWire(snapshot, { deployment, full: queryString(query, "full") === "true" }),
  );
});
