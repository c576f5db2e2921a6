import * as v from "valibot";
import { open } from "../schema/json.ts";

/** `GET /resurrection`. */
export const resurrection = open({ resurrection: v.boolean() });

/** `PUT /resurrection`. */
export const resurrectionChange = open({ resurrection_paused: v.boolean() });

const filter = v.optional(
  v.nullable(
    open({
      deployments: v.optional(v.nullable(v.array(v.string()))),
      instance_groups: v.optional(v.nullable(v.array(v.string()))),
    }),
  ),
);
export type ResurrectionFilter = v.InferOutput<typeof filter>;

/** A config of type `resurrection`, after YAML. */
export const resurrectionConfig = open({
  rules: v.optional(v.nullable(v.array(open({ enabled: v.boolean(), include: filter, exclude: filter })))),
});
