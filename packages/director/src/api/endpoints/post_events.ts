import { newEvent } from "@slipway/protocol/director/event";
import { addEvent } from "../../store/events.ts";
import { BadParameter } from "../refusals.ts";
import { nothing } from "../reply.ts";
import { endpoint } from "../route.ts";
import { A_TIME, readTime } from "../times.ts";

/** Stores alerts of upstream's health monitor as entries of the audit log. */
export const postEvents = endpoint({ body: newEvent }, async (call, { db }) => {
  const given = await call.json();
  const timestamp = given.timestamp ?? undefined;
  const at = timestamp === undefined ? undefined : readTime(String(timestamp));
  if (timestamp !== undefined && at === undefined)
    throw BadParameter({ name: "timestamp", expected: A_TIME });
  await addEvent(db, {
    user: call.user,
    action: given.action,
    objectType: given.object_type,
    objectName: given.object_name,
    at,
    ...(given.error && { error: given.error }),
    ...(given.deployment && { deployment: given.deployment }),
    ...(given.instance && { instance: given.instance }),
    ...(given.context && { context: given.context }),
  });
  return nothing(200);
});
