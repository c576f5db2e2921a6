import * as v from "valibot";
import { integer, open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/** `GET /deployments/:deployment/variables`: which versions a deployment uses. Never a value. */
export const variable = open({
  id: doc(v.string(), "of this version, in the config server"),
  name: doc(v.string(), "absolute: `/director/deployment/name`"),
});
export type Variable = v.InferOutput<typeof variable>;

export const variablesQuery = open({
  type: v.optional(doc(v.string(), "only those of this type: `certificate`, `password`...")),
});

/** `GET /deployed_variables/:name`: which deployments use a variable, in which version. */
export const deployedVariable = open({
  deployments: v.array(
    open({ name: doc(v.string(), "of the deployment"), version: doc(v.string(), "id of the version") }),
  ),
});

/** `GET /deployments/:deployment/certificate_expiry`: certificates among the variables of the last deploy. */
export const variableExpiry = open({
  name: doc(v.string(), "absolute"),
  id: doc(v.string(), "of this version, in the config server"),
  expiry_date: doc(v.string(), "`2027-01-01T00:00:00Z`"),
  days_left: integer(Number.MIN_SAFE_INTEGER, "days_left"),
});
