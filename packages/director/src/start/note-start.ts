import { addEvent } from "../store/events.ts";
import type { Db } from "../store/schema.ts";

/** Starts of the Director and of what runs its tasks are events, as upstream's are. */
export async function noteStart(
  db: Db,
  { uuid, version, worker }: { readonly uuid: string; readonly version: string; readonly worker: string },
): Promise<void> {
  const started = { user: "_director", action: "start" };
  await addEvent(db, { ...started, objectType: "director", objectName: uuid, context: { version } });
  await addEvent(db, { ...started, objectType: "worker", objectName: worker });
}
