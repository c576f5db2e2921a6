import * as v from "valibot";
import { json } from "../../schema/json.ts";
import { message, messageArg } from "../message.ts";

export const getTask = message({
  name: "get_task",
  summary: "The result of a task, or that it still runs.",
  args: [messageArg("task_id", v.string(), "what a task-like message answered")],
  mode: "answer",
  result: json(),
  upstream: true,
});
