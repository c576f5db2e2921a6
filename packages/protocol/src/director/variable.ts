import * as v from "valibot";
import { open } from "../schema/json.ts";
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
