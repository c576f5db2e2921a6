import { jsonObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { param } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** What is still to come: a list that is empty. */
export const emptyListOfDeployment = endpoint({ reply: v.array(jsonObject()) }, async (call, { db }) => {
  await deploymentOf(db, param(call, "deployment"));
  return json([]);
});
