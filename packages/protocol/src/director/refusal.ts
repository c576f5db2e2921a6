import * as v from "valibot";
import { open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/** Reply of a Director that refuses a request. */
export const refusal = open({
  code: doc(v.number(), "upstream's number of the error"),
  description: v.string(),
});
