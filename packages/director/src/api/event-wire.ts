import type { event as eventSchema } from "@slipway/protocol/director/event";
import type { ReplyOf } from "@slipway/protocol/schema/reply-of";
import type { EventRecord } from "../store/events.ts";
import { seconds } from "./times.ts";

/** Returns the event as `bosh events` reads it: ids are strings, missing values are left out. */
export const eventWire = (event: EventRecord): ReplyOf<typeof eventSchema> => ({
  id: String(event.id),
  ...(event.parentId === null ? {} : { parent_id: String(event.parentId) }),
  timestamp: seconds(event.at),
  user: event.user,
  action: event.action,
  object_type: event.objectType,
  ...(event.objectName === null ? {} : { object_name: event.objectName }),
  ...(event.error === null ? {} : { error: event.error }),
  ...(event.taskId === null ? {} : { task: String(event.taskId) }),
  ...(event.deployment === null ? {} : { deployment: event.deployment }),
  ...(event.instance === null ? {} : { instance: event.instance }),
  context: event.context,
});
