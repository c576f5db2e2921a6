import * as v from "valibot";
import { open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

export const networksQuery = open({
  orphaned: v.optional(doc(v.string(), "`true`: only those that no deployment uses any more")),
});

/** `GET /networks`: those that CPIs have made. Upstream lists orphaned ones only, without what is from `orphaned` on. */
export const network = open({
  name: v.string(),
  type: v.nullish(v.string()),
  created_at: v.nullish(doc(v.string(), "`2025-11-15 19:00:00 UTC`")),
  orphaned_at: v.nullish(doc(v.string(), "`2025-11-15 19:00:00 UTC`; empty: somebody uses it")),
  orphaned: v.nullish(v.boolean()),
  deployments: v.nullish(doc(v.array(v.string()), "who uses it")),
  subnets: v.nullish(
    v.array(
      open({
        name: v.string(),
        cid: v.string(),
        cpi: v.nullish(v.string()),
        range: v.nullish(v.string()),
        gateway: v.nullish(v.string()),
        reserved: v.nullish(doc(v.array(v.string()), "what the cloud keeps for itself")),
      }),
    ),
  ),
});
export type Network = v.InferOutput<typeof network>;
