import * as v from "valibot";
import { message } from "../message.ts";

export const start = message({
  name: "start",
  summary: "Starts the jobs.",
  args: [],
  mode: "answer",
  result: v.literal("started"),
  upstream: true,
});
