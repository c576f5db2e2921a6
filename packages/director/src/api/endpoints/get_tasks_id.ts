import { task as taskEntry } from "@slipway/protocol/director/task";
import type { Db } from "../../store/schema.ts";
import { findTask, type TaskWire } from "../../tasks/list.ts";
import { type Call, param } from "../call.ts";
import { NoSuchTask } from "../refusals.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

export const getTasksId = endpoint({ reply: taskEntry }, async (call, { db }) =>
  json(await taskOf(call, db)),
);

/** The task of a path, or error 10000. */
export async function taskOf(call: Pick<Call, "params">, db: Db): Promise<TaskWire> {
  const id = param(call, "id");
  const task = /^\d{1,15}$/.test(id) ? await findTask(db, Number(id)) : undefined;
  if (task !== undefined) return task;
  throw NoSuchTask({ name: id });
}
