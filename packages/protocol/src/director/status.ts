import * as v from "valibot";
import { integer, open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";
import { certificateExpiry } from "./info.ts";

const count = integer(0, "count");

/** `GET /director/status`, ours: how the Director itself is. */
export const directorStatus = open({
  name: v.string(),
  uuid: v.string(),
  version: v.string(),
  since: doc(v.number(), "when it was started, in seconds since 1970"),
  problems: doc(v.array(v.string()), "what keeps it from working at present"),
  queue: v.nullish(
    doc(
      open({
        queued: count,
        processing: count,
        cancelling: count,
        oldest_queued_s: v.nullish(doc(v.number(), "how long the first in the queue has waited")),
      }),
      "tasks of all Directors of the database; null: it cannot be asked",
    ),
  ),
  workers: open({
    slots: count,
    busy: doc(count, "tasks that this Director runs, quick ones beside the slots"),
  }),
  database: open({
    kind: doc(v.picklist(["embedded", "external"]), "in the state directory, or of `database.url`"),
    reachable: v.boolean(),
    size_bytes: v.nullish(count),
    answered_ms: v.nullish(v.number()),
  }),
  disk: v.nullish(
    doc(
      open({ directory: v.string(), free_bytes: count, size_bytes: count }),
      "of the state directory; null: it cannot be looked at",
    ),
  ),
  certificates: v.array(certificateExpiry),
  restored: v.nullish(
    doc(
      open({
        taken_at: doc(v.number(), "when the backup was taken, in seconds since 1970"),
        not_looked_at: doc(v.array(v.string()), "deployments that wait for `bosh -d NAME cloud-check`"),
      }),
      "null: from no backup, or all deployments were looked at since",
    ),
  ),
  nats: v.nullish(doc(open({ connected: v.boolean() }), "null: it has none")),
});
export type DirectorStatus = v.InferOutput<typeof directorStatus>;
