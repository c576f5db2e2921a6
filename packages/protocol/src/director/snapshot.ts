import * as v from "valibot";
import { open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/** `GET /deployments/:deployment/snapshots`. */
export const snapshot = open({
  job: doc(v.string(), "the instance group"),
  index: v.nullish(v.number()),
  uuid: v.string(),
  snapshot_cid: v.string(),
  created_at: v.string(),
  clean: doc(v.boolean(), "nothing wrote to the disk meanwhile"),
});
export type Snapshot = v.InferOutput<typeof snapshot>;
