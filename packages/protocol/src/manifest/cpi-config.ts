import * as v from "valibot";
import { jsonObject, open } from "../schema/json.ts";
import { doc, hidden } from "../schema/marks.ts";
import { name } from "./common.ts";

/** The shape of a CPI config. What has to fit together is for the Director's parser (`engine/manifest`) to say. */
export const cpiConfig = open({
  cpis: v.array(
    open({
      name: doc(name, "as zones and records have it"),
      type: doc(name, "of the program"),
      exec_path: v.optional(doc(name, "another program than that of the type")),
      properties: v.optional(doc(hidden(jsonObject()), "merged into the context of every call")),
      migrated_from: v.optional(
        doc(
          v.array(open({ name: v.string() })),
          "names it was recorded under before; `''` is the Director's own CPI",
        ),
      ),
    }),
  ),
});
