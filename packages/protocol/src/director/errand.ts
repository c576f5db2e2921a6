import * as v from "valibot";
import { open, text } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/** `GET /deployments/:deployment/errands`: groups that are errands, and jobs that have a `bin/run`. */
export const errand = open({ name: v.string() });

/** `POST /deployments/:deployment/errands/:errand/runs`. */
export const errandRun = open({
  "keep-alive": v.optional(v.nullable(doc(v.boolean(), "VMs of errand groups stay"))),
  "when-changed": v.optional(
    v.nullable(doc(v.boolean(), "only if something changed since it last succeeded")),
  ),
  instances: v.optional(
    v.nullable(
      v.array(
        open({
          group: text("group"),
          id: v.optional(v.nullable(doc(v.string(), "an id, an index, or `first`; default: all"))),
        }),
      ),
    ),
  ),
});

/** One line of the task's result, for each instance it ran on. */
export const errandResult = open({
  instance: open({ group: v.string(), id: v.string() }),
  errand_name: v.string(),
  exit_code: v.number(),
  stdout: v.string(),
  stderr: v.string(),
  logs: open({ blobstore_id: v.nullish(v.string()), sha1: v.nullish(v.string()) }),
});
export type ErrandLine = v.InferOutput<typeof errandResult>;
