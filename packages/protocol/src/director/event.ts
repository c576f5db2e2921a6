import * as v from "valibot";
import { jsonObject, open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/** Left out where there is nothing to say. */
const text = v.optional(v.string());

/** `GET /events/:id`: an entry of the audit log. */
export const event = open({
  id: v.string(),
  parent_id: v.optional(doc(v.string(), "of the end of something: the event of its beginning")),
  timestamp: v.nullish(doc(v.number(), "seconds since 1970")),
  user: v.nullish(v.string()),
  action: v.nullish(doc(v.string(), "`create`, `update`, `delete`...")),
  object_type: v.nullish(doc(v.string(), "`deployment`, `instance`, `vm`, `disk`...")),
  object_name: text,
  error: text,
  task: text,
  deployment: text,
  instance: text,
  context: v.nullish(jsonObject()),
});
export type Event = v.InferOutput<typeof event>;

const given = v.optional(v.nullable(v.pipe(v.string(), v.maxLength(1_000))));

const named = v.pipe(v.string(), v.minLength(1), v.maxLength(1_000));

/** `POST /events`: of health monitors. */
export const newEvent = open({
  action: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
  object_type: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
  object_name: named,
  timestamp: v.optional(
    doc(
      v.nullable(v.union([v.number(), v.pipe(v.string(), v.maxLength(100))])),
      "when it happened: seconds since 1970, or a date as people write it; now, if it is missing",
    ),
  ),
  deployment: v.optional(v.nullable(v.pipe(v.string(), v.maxLength(255)))),
  instance: given,
  error: given,
  context: v.optional(v.nullable(jsonObject())),
});

/** `GET /events`: at most 200, the newest first. */
export const eventsQuery = open({
  before_id: text,
  before_time: v.optional(doc(v.string(), "seconds since 1970, or a date as people write it")),
  after_time: text,
  deployment: text,
  task: text,
  instance: text,
  user: text,
  action: text,
  object_type: text,
  object_name: text,
});
