import * as v from "valibot";
import { open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

const text = v.optional(v.nullable(v.string()));
const whole = v.optional(v.nullable(v.number()));

/** A line of a task's `event` output: of a step, a warning, or the error that ended the task. */
export const taskEvent = open({
  time: v.optional(v.nullable(doc(v.number(), "whole seconds since 1970; the CLI ends at a fraction"))),
  stage: text,
  tags: v.optional(v.nullable(doc(v.array(v.string()), "the same in all lines of a step"))),
  total: whole,
  task: v.optional(v.nullable(doc(v.string(), "the step"))),
  index: whole,
  state: v.optional(v.nullable(doc(v.string(), "`started`, `in_progress`, `finished` or `failed`"))),
  progress: whole,
  data: v.optional(v.nullable(open({ status: text, error: text }))),
  type: v.optional(v.nullable(doc(v.string(), "`warning` or `deprecation`, with a message"))),
  message: text,
  error: v.optional(v.nullable(open({ code: whole, message: text }))),
});
export type TaskEvent = v.InferOutput<typeof taskEvent>;
