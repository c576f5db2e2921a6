import * as v from "valibot";
import { message, messageArg } from "../message.ts";

export const cancelTask = message({
  name: "cancel_task",
  summary: "Asks a task to stop. Advisory; may be sent again.",
  args: [messageArg("task_id", v.string(), "the task")],
  mode: "answer",
  result: v.literal("canceled"),
  upstream: true,
});
