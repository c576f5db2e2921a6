import * as v from "valibot";
import { integer, json, open } from "../schema/json.ts";
import { doc, secret } from "../schema/marks.ts";

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

/** Name of a variable: absolute, or that of a deployment's manifest together with the deployment. */
const named = {
  name: doc(v.string(), "absolute, or as the manifest of `deployment` writes it"),
  deployment: v.optional(doc(v.string(), "whose manifest the name is from")),
};

/** `GET /variable`: one value of the Director's own config server. Ours. */
export const variableValueQuery = open(named);
export const variableValue = open({
  id: doc(v.string(), "of the newest version"),
  name: doc(v.string(), "absolute"),
  type: doc(v.string(), "`password`, `certificate`, ... or `value`"),
  version: doc(integer(1, "version"), "counts from 1"),
  value: secret(json()),
});

/** `PUT /variable`: another value, as a new version. Ours. */
export const newVariableValue = open({
  ...named,
  type: v.optional(doc(v.string(), "of a variable that does not exist yet; default `value`")),
  value: secret(json()),
});

/** `POST /variable/regeneration`: another value by the same definition. Ours. */
export const regeneration = open({
  ...named,
  at_once: v.optional(doc(v.boolean(), "replace an authority without a time in which both are trusted")),
});

export const variableChange = open({
  variables: v.array(open({ name: doc(v.string(), "absolute"), id: doc(v.string(), "of the new version") })),
  step: v.optional(
    doc(
      v.picklist(["start", "switch", "finish"]),
      "of the rotation of an authority: see docs/rotate-secrets.md",
    ),
  ),
  deployments: doc(v.array(v.string()), "that use an earlier version until they are deployed again"),
});
export type VariableChange = v.InferOutput<typeof variableChange>;

/** `GET /deployments/:deployment/certificate_expiry`: certificates among the variables of the last deploy. */
export const variableExpiry = open({
  name: doc(v.string(), "absolute"),
  id: doc(v.string(), "of this version, in the config server"),
  expiry_date: doc(v.string(), "`2027-01-01T00:00:00Z`"),
  days_left: integer(Number.MIN_SAFE_INTEGER, "days_left"),
});
