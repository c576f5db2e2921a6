import * as v from "valibot";
import { message } from "../message.ts";

export const stop = message({
  name: "stop",
  summary: "Stops the jobs; from protocol 3 on it waits until they have stopped.",
  args: [],
  mode: "task",
  result: v.literal("stopped"),
  cancellable: true,
  upstream: true,
});
