import type { Db } from "../store/schema.ts";
import { oneLine } from "./failure.ts";
import type { AuditEvent } from "./task.ts";

/** Writes an entry of `bosh events`; returns its id, the `parentId` of the entry that ends what this one began. */
export async function writeAudit(
  db: Db,
  by: { readonly user: string; readonly taskId?: number | undefined },
  event: AuditEvent,
): Promise<number> {
  const row = await db
    .insertInto("events")
    .values({
      parent_id: event.parentId ?? null,
      username: by.user,
      action: event.action,
      object_type: event.objectType,
      object_name: event.objectName,
      error: event.error === undefined ? null : oneLine(event.error),
      task_id: by.taskId ?? null,
      deployment: event.deployment ?? null,
      instance: event.instance ?? null,
      context: JSON.stringify(event.context ?? {}),
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}
