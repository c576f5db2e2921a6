import { event, eventsQuery } from "@slipway/protocol/director/event";
import * as v from "valibot";
import { listEvents } from "../../store/events.ts";
import { type Query, queryInt, queryString } from "../call.ts";
import { eventWire } from "../event-wire.ts";
import { BadParameter } from "../refusals.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";
import { A_TIME, readTime } from "../times.ts";

export const getEvents = endpoint(
  { query: eventsQuery, reply: v.array(event) },
  async ({ query, access, user }, { db }) => {
    const events = await listEvents(db, {
      beforeId: queryInt(query, "before_id", 0),
      beforeTime: timeOf(query, "before_time"),
      afterTime: laterThan(timeOf(query, "after_time")),
      deployment: queryString(query, "deployment"),
      task: queryInt(query, "task", 0),
      instance: queryString(query, "instance"),
      user: queryString(query, "user"),
      action: queryString(query, "action"),
      objectType: queryString(query, "object_type"),
      objectName: queryString(query, "object_name"),
      seenBy: access.read ? undefined : { teams: access.memberOf, user },
    });
    return json(events.map(eventWire));
  },
);

/** Returns the next second, so that a caller who asks again with the time of the last event gets nothing twice. */
const laterThan = (time: number | undefined) => (time === undefined ? undefined : time + 1000);

function timeOf(query: Query, name: string): number | undefined {
  const text = queryString(query, name);
  if (text === undefined) return undefined;
  const time = readTime(text);
  if (time === undefined) throw BadParameter({ name, expected: A_TIME });
  return time;
}
