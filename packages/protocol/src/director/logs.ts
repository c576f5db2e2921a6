import * as v from "valibot";
import { open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/** `GET /deployments/:deployment/jobs/:group/:index/logs`; group and index may be `*`. */
export const logsQuery = open({
  type: v.optional(doc(v.string(), "job, agent, system, or several joined by commas; default: job")),
  filters: v.optional(doc(v.string(), "globs joined by commas; default: all files")),
});

export const LOG_TYPES = ["job", "agent", "system"] as const;
