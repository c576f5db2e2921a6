import type { deployQuery } from "@slipway/protocol/director/deployment";
import type { DeployOptions } from "@slipway/protocol/director/task-params";
import { type QueryOf, queryFlag, queryString } from "./call.ts";

/** Query parameters that a deploy and a change of state share. */
type DeployQuery = Omit<QueryOf<{ query: typeof deployQuery }>, "context">;

/** The switches of `deploy`, as they come in the query. Their values are checked with the task's parameters. */
export function deployOptionsOf(query: DeployQuery): DeployOptions {
  const createdBefore = queryString(query, "recreate_vms_created_before");
  const skipDrain = queryString(query, "skip_drain");
  return {
    recreate: queryFlag(query, "recreate") || createdBefore !== undefined,
    recreate_persistent_disks: queryFlag(query, "recreate_persistent_disks"),
    recreate_vms_created_before: createdBefore === undefined ? undefined : normalised(createdBefore),
    fix: queryFlag(query, "fix"),
    skip_drain: skipDrain === undefined ? [] : skipDrain === "true" ? ["*"] : skipDrain.split(","),
    canaries: queryString(query, "canaries"),
    max_in_flight: queryString(query, "max_in_flight"),
    dry_run: queryFlag(query, "dry_run"),
    ...(queryFlag(query, "dry_run_steps") && { dry_run_steps: true }),
    force_latest_variables: queryFlag(query, "force_latest_variables"),
  };
}

export const deployDescription = (query: DeployQuery): string =>
  `create deployment${queryFlag(query, "dry_run") ? " (dry run)" : ""}`;

/** A `+` of an offset that was not escaped arrives as a blank. */
function normalised(text: string): string {
  const time = new Date(text.replace(" ", "+"));
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}
