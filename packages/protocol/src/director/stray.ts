import * as v from "valibot";
import { open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/** `GET /strays`, ours: what may exist in a cloud without a record, because the end of a call is unknown. */
export const stray = open({
  id: v.string(),
  kind: doc(v.string(), "`vm`, `disk`, `stemcell`, `snapshot` or `network`"),
  cpi: v.nullish(v.string()),
  request_id: v.nullish(doc(v.string(), "of the call")),
  about: v.nullish(doc(v.string(), "what is known of it")),
  why: v.nullish(v.string()),
  noted_at: v.nullish(doc(v.string(), "`2025-11-15 19:00:00 UTC`")),
});
