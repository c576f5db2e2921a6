import * as v from "valibot";
import { open, text } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/** Tasks of the Director, as its API names them. */

export type TaskState = "queued" | "processing" | "cancelling" | "cancelled" | "done" | "error" | "timeout";

/** Upstream's names; `GET /tasks` filters by them. */
export type TaskType =
  | "update_deployment"
  | "delete_deployment"
  | "update_stemcell"
  | "delete_stemcell"
  | "update_release"
  | "delete_release"
  | "export_release"
  | "delete_artifacts"
  | "update_instance"
  | "instances"
  | "vms"
  | "attach_disk"
  | "orphan_disk"
  | "delete_orphan_disks"
  | "delete_vm"
  | "delete_orphaned_vms"
  | "scheduled_orphaned_disk_cleanup"
  | "delete_orphan_networks"
  | "cck_scan"
  | "cck_apply"
  | "cck_scan_and_fix"
  | "renew_certificates"
  | "fetch_logs"
  | "ssh"
  | "run_errand"
  | "create_snapshot"
  | "snapshot_deployment"
  | "snapshot_deployments"
  | "delete_snapshot"
  | "delete_deployment_snapshots";

/** `GET /tasks/:id`. Times are whole seconds: the CLI takes nothing else. */
export const task = open({
  id: v.number(),
  state: doc(v.string(), "`queued`, `processing`, `cancelling`, `cancelled`, `done`, `error` or `timeout`"),
  description: v.nullish(v.string()),
  timestamp: v.nullish(doc(v.number(), "when it ended, in seconds since 1970")),
  started_at: v.nullish(v.number()),
  result: v.nullish(v.string()),
  user: v.nullish(v.string()),
  deployment: v.nullish(v.string()),
  context_id: v.nullish(doc(v.string(), "the `X-Bosh-Context-Id` of the request")),
});
export type Task = v.InferOutput<typeof task>;

/** `GET /tasks`: the newest first. */
export const tasksQuery = open({
  state: v.optional(doc(v.string(), "several joined by commas")),
  verbose: v.optional(doc(v.string(), "`1`, the default: without listings, ssh and the like")),
  limit: v.optional(v.string()),
  deployment: v.optional(v.string()),
  context_id: v.optional(v.string()),
});

/** One JSON document per line in `event`, `result` and `conversation` (ours); plain text in `debug` and `cpi`. */
export const OUTPUT_TYPES = ["event", "result", "debug", "cpi", "conversation"] as const;
export type OutputType = (typeof OUTPUT_TYPES)[number];

/** `GET /tasks/:id/output`. */
export const taskOutputQuery = open({
  type: v.optional(doc(v.string(), `${OUTPUT_TYPES.join(", ")} or none; default: debug`)),
});

/** `POST /tasks/cancel`: what is absent does not matter. */
export const taskCancellation = open({
  deployment: v.optional(v.nullable(text("deployment"))),
  states: v.optional(v.nullable(doc(v.array(v.picklist(["queued", "processing"])), "default: `queued`"))),
  types: v.optional(v.nullable(v.array(v.string()))),
});
