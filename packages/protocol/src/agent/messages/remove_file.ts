import * as v from "valibot";
import { text } from "../../schema/json.ts";
import { message, messageArg } from "../message.ts";

export const removeFile = message({
  name: "remove_file",
  summary: "Removes a file that bundle_logs left.",
  args: [messageArg("path", text("path"), "missing is fine")],
  mode: "answer",
  result: v.string(),
  upstream: true,
});
