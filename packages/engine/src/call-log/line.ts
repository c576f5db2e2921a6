import { json, open, text } from "@slipway/protocol/schema/json";
import * as v from "valibot";

/**
 * One line of a task's conversation: what the Director said to a CPI or an agent, and what came back, without secrets.
 * Lines stand in the order in which the calls ended.
 */
export const conversationLine = open({
  /** When it began, in milliseconds since 1970. */
  at: v.number(),
  ms: v.number(),
  /** `cpi:<name>`, `agent:<agent id>`; `director` for the whole run of a task, as its last line. */
  to: text("to"),
  /** `db/<uuid>`, where the Director knew for whom it spoke. */
  instance: v.optional(v.string()),
  message: text("message"),
  api_version: v.optional(v.number()),
  stemcell_api_version: v.optional(v.number()),
  /** The CPI was told of the registry. */
  registry: v.optional(v.boolean()),
  /** How often was asked until the answer was there. */
  polls: v.optional(v.number()),
  note: v.optional(v.string()),
  /** The arguments. */
  request: json(),
  answer: v.optional(json()),
  error: v.optional(v.string()),
});
export type ConversationLine = v.InferOutput<typeof conversationLine>;
