import * as v from "valibot";
import { open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/** `GET /locks`. */
export const lock = open({
  type: doc(v.string(), "`deployment`, `stemcells`..."),
  resource: doc(v.array(v.string()), "what is locked: `[shop]`"),
  timeout: doc(v.string(), "when it ends: seconds as text, with a fraction"),
  task_id: v.nullish(v.string()),
});
export type Lock = v.InferOutput<typeof lock>;
