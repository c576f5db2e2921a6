import * as v from "valibot";
import { open } from "../../schema/json.ts";
import { message, optionalArg } from "../message.ts";

export const runErrand = message({
  name: "run_errand",
  summary: "Runs an errand.",
  args: [optionalArg("job", v.nullable(v.string()), "default: the first job")],
  mode: "task",
  result: open({ stdout: v.string(), stderr: v.string(), exit_code: v.number() }),
  cancellable: true,
  upstream: true,
});
