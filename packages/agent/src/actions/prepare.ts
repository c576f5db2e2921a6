import { prepareJobs } from "../jobs/switch.ts";
import type { Action } from "./action.ts";

export const prepare: Action<"prepare"> = async ({ spec }, { services, signal }) => {
  await prepareJobs(spec, services, signal);
  return "prepared";
};
