import * as v from "valibot";
import { message } from "../message.ts";

export const shutdown = message({
  name: "shutdown",
  summary: "Powers the VM off.",
  args: [],
  mode: "answer",
  result: v.string(),
  upstream: true,
});
