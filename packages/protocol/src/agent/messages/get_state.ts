import * as v from "valibot";
import { jsonObject } from "../../schema/json.ts";
import { message, optionalArg } from "../message.ts";

export const getState = message({
  name: "get_state",
  summary: "What the agent was told to be, and how it is.",
  args: [
    optionalArg("filter", v.nullable(v.string()), "`full` adds the vitals"),
    optionalArg(
      "more",
      v.nullable(v.string()),
      "`problems` adds what is wrong to processes that do not run, with the last lines of their log. Upstream's agent does not look at it",
    ),
  ],
  mode: "answer",
  result: jsonObject(),
  upstream: true,
});
