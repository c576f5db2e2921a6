import type { TaskType } from "@slipway/protocol/director/task";
import { open, text } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { addEvent } from "../../store/events.ts";
import { cancelTasks } from "../../tasks/list.ts";
import { jsonBody } from "../call.ts";
import { nothing } from "../reply.ts";
import type { Handler } from "../route.ts";

const body = open({
  deployment: v.optional(v.nullable(text("deployment"))),
  states: v.optional(v.nullable(v.array(v.picklist(["queued", "processing"])))),
  types: v.optional(v.nullable(v.array(v.string()))),
});

export const postTasksCancel: Handler = async (call, { db, clock }) => {
  const wanted = await jsonBody(call, body);
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
};
