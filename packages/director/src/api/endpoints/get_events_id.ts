import { event as eventEntry } from "@slipway/protocol/director/event";
import { findEvent } from "../../store/events.ts";
import { param } from "../call.ts";
import { eventWire } from "../event-wire.ts";
import { json, plain } from "../reply.ts";
import { endpoint } from "../route.ts";

export const getEventsId = endpoint({ reply: eventEntry }, async (call, { db }) => {
  const id = param(call, "id");
  const event = /^\d{1,15}$/.test(id) ? await findEvent(db, Number(id)) : undefined;
  return event === undefined ? plain(404, `there is no event ${id}\n`) : json(eventWire(event));
});
