import * as v from "valibot";
import { json, open, text } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/**
 * One line of a task's conversation: what the Director said to a CPI or an agent, and what came back, without secrets.
 * Lines stand in the order in which the calls ended.
 */
export const conversationLine = open({
  at: doc(v.number(), "when it began, in milliseconds since 1970"),
  ms: v.number(),
  to: doc(
    text("to"),
    "`cpi:<name>`, `agent:<agent id>`; `director` for the whole run of a task, as its last line",
  ),
  instance: v.optional(doc(v.string(), "`db/<uuid>`, where the Director knew for whom it spoke")),
  message: text("message"),
  request_id: v.optional(doc(v.string(), "of a call to a CPI, as its log has it")),
  api_version: v.optional(v.number()),
  stemcell_api_version: v.optional(v.number()),
  registry: v.optional(doc(v.boolean(), "the CPI was told of the registry")),
  polls: v.optional(doc(v.number(), "how often was asked until the answer was there")),
  note: v.optional(v.string()),
  request: doc(json(), "the arguments"),
  answer: v.optional(json()),
  error: v.optional(v.string()),
});
export type ConversationLine = v.InferOutput<typeof conversationLine>;
