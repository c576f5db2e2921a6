import { addEvent } from "../../store/events.ts";
import { nothing, plain } from "../reply.ts";
import { endpoint } from "../route.ts";
import { taskOf } from "./get_tasks_id.ts";

/** The one path with `task` in the singular. */
export const deleteTaskId = endpoint({}, async (call, { db, tasks }) => {
  const task = await taskOf(call, db);
  if (!(await tasks.cancel(task.id))) {
    return plain(400, `Cannot cancel task ${task.id}: invalid state (${task.state})\n`);
  }
  await addEvent(db, {
    user: call.user,
    taskId: task.id,
    action: "cancel",
    objectType: "task",
    objectName: String(task.id),
    deployment: task.deployment ?? undefined,
  });
  return nothing();
});
