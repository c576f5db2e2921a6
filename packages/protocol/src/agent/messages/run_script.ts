import * as v from "valibot";
import { jsonObject, open, text } from "../../schema/json.ts";
import { hidden } from "../../schema/marks.ts";
import { message, messageArg } from "../message.ts";

export const runScript = message({
  name: "run_script",
  summary: "Runs one lifecycle script of every job that has it.",
  args: [
    messageArg("script", text("script"), "pre-start, post-start, post-deploy, pre-stop, post-stop"),
    messageArg(
      "options",
      v.nullable(open({ env: v.optional(v.nullable(hidden(jsonObject()))) })),
      "environment",
    ),
  ],
  mode: "task",
  result: jsonObject(),
  cancellable: true,
  upstream: true,
});
