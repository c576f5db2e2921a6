import type { deployQuery } from "@slipway/protocol/director/deployment";
import type { DeployOptions } from "@slipway/protocol/director/task-params";
import { flag, given, type QueryOf } from "./call.ts";

/** Query parameters that a deploy and a change of state share. */
type DeployQuery = Omit<QueryOf<{ query: typeof deployQuery }>, "context">;

/** The switches of `deploy`, as they come in the query. Their values are checked with the task's parameters. */
export function deployOptionsOf(query: DeployQuery): DeployOptions {
  const createdBefore = given(query, "recreate_vms_created_before");
  const skipDrain = given(query, "skip_drain");
  return {
    recreate: flag(query, "recreate") || createdBefore !== undefined,
    recreate_persistent_disks: flag(query, "recreate_persistent_disks"),
    recreate_vms_created_before: createdBefore === undefined ? undefined : normalised(createdBefore),
    fix: flag(query, "fix"),
    skip_drain: skipDrain === undefined ? [] : skipDrain === "true" ? ["*"] : skipDrain.split(","),
    canaries: given(query, "canaries"),
    max_in_flight: given(query, "max_in_flight"),
    dry_run: flag(query, "dry_run"),
    ...(flag(query, "dry_run_steps") && { dry_run_steps: true }),
    force_latest_variables: flag(query, "force_latest_variables"),
  };
}

export const deployDescription = (query: DeployQuery): string =>
  `create deployment${flag(query, "dry_run") ? " (dry run)" : ""}`;

/** A `+` of an offset that was not escaped arrives as a blank. */
function normalised(text: string): string {
  const time = new Date(text.replace(" ", "+"));
  return Number.isNaN(time.getTime()) ? text : time.toISOString();
}
