import type { Action } from "./action.ts";
import { refuseJobs } from "./apply.ts";

/** Without jobs there is nothing to fetch. */
export const prepare: Action<"prepare"> = async ({ spec }) => {
  refuseJobs(spec);
  return "prepared";
};
