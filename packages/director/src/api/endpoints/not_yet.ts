import { jsonObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { param } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { NoSuchResource, NotYet } from "../refusals.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** What is still to come. A list is empty; any other request gets an answer that says so. */

export const emptyList = endpoint({ reply: v.array(jsonObject()) }, async () => json([]));

export const emptyListOfDeployment = endpoint({ reply: v.array(jsonObject()) }, async (call, { db }) => {
  await deploymentOf(db, param(call, "deployment"));
  return json([]);
});

export const notYet = (what: string) =>
  endpoint({}, async () => {
    throw NotYet({ what });
  });

export const getResourcesId = endpoint({}, async (call) => {
  throw NoSuchResource({ name: param(call, "id") });
});
