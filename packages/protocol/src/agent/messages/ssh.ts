import * as v from "valibot";
import { jsonObject, open } from "../../schema/json.ts";
import { message, messageArg } from "../message.ts";

export const ssh = message({
  name: "ssh",
  summary: "Makes or removes users for ssh.",
  args: [
    messageArg("command", v.string(), "setup or cleanup"),
    messageArg(
      "params",
      open({
        user: v.optional(v.nullable(v.string())),
        public_key: v.optional(v.nullable(v.string())),
        user_regex: v.optional(v.nullable(v.string())),
      }),
      "",
    ),
  ],
  mode: "answer",
  result: jsonObject(),
  upstream: true,
});
