import type { TaskType } from "@slipway/protocol/director/task";
import { taskCancellation } from "@slipway/protocol/director/task";
import { addEvent } from "../../store/events.ts";
import { cancelTasks } from "../../tasks/list.ts";
import { nothing } from "../reply.ts";
import { endpoint } from "../route.ts";

export const postTasksCancel = endpoint({ body: taskCancellation }, async (call, { db, clock }) => {
  const wanted = await call.json();
  const ids = await cancelTasks(db, clock, {
    deployment: wanted.deployment ?? undefined,
    states: wanted.states ?? ["queued"],
    // A type that we do not have finds nothing.
    types: (wanted.types as TaskType[] | null | undefined) ?? undefined,
  });
  for (const id of ids) {
    const objectName = String(id);
    await addEvent(db, { user: call.user, taskId: id, action: "cancel", objectType: "task", objectName });
  }
  return nothing();
});
