import * as v from "valibot";
import { open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/** `GET /networks?orphaned=true`: those the Director made that no deployment uses any more. */
export const network = open({
  name: v.string(),
  type: v.nullish(v.string()),
  created_at: v.nullish(doc(v.string(), "`2025-11-15 19:00:00 UTC`")),
  orphaned_at: v.nullish(doc(v.string(), "`2025-11-15 19:00:00 UTC`")),
});
