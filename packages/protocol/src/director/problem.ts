import * as v from "valibot";
import { jsonObject, mapOf, open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";
import { applyParams } from "./task-params.ts";

/** `GET /deployments/:deployment/problems`: problems that the last scan found and that are not resolved yet. */
export const problem = open({
  id: v.number(),
  type: v.string(),
  data: v.nullish(jsonObject()),
  description: v.string(),
  instance_group: v.nullish(v.string()),
  resolutions: v.array(
    open({ name: v.nullable(v.string()), plan: doc(v.string(), "what it does, as operators choose it") }),
  ),
});
export type Problem = v.InferOutput<typeof problem>;

/** `PUT /deployments/:deployment/problems`. */
export const problemResolutions = open({
  resolutions: doc(applyParams.entries.resolutions, "by a problem's number; null: what is done by default"),
  max_in_flight_overrides: v.optional(v.nullable(doc(mapOf(v.string()), "by instance group"))),
});

/** `PUT /deployments/:deployment/scan_and_fix`, for health monitors. */
export const scanAndFix = open({
  jobs: doc(mapOf(v.array(v.union([v.string(), v.number()]))), "by instance group: ids or indexes"),
});
