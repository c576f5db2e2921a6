import * as v from "valibot";
import { open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/** What a Director says when it refuses a request. */
export const refusal = open({
  code: doc(v.number(), "upstream's number of the error"),
  description: v.string(),
});
