import * as v from "valibot";
import { json, open, text } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/** A request to an agent. Directors send protocol 3; the CLI sends none, which is 0. */
export const agentRequest = open({
  protocol: v.optional(doc(v.nullable(v.number()), "3 from Directors; missing means 0")),
  method: v.string(),
  arguments: v.optional(v.nullable(v.array(v.unknown()))),
  reply_to: v.optional(
    doc(v.nullable(v.string()), "NATS subject of the answer; names the caller over HTTPS"),
  ),
  takes_result: v.optional(
    doc(
      v.nullable(v.boolean()),
      "ours: the sender takes the value of a task that ends at once in the place of the task",
    ),
  ),
});
export type AgentRequest = v.InferOutput<typeof agentRequest>;

/** Builds a request as our Director sends it. Other agents ignore the keys they do not know. */
export const directorsRequest = (
  method: string,
  args: readonly unknown[],
  replyTo: string,
): AgentRequest => ({ protocol: 3, method, arguments: [...args], reply_to: replyTo, takes_result: true });

export const agentException = open({ message: v.string() });

/** `{value}` or `{exception: {message}}`, never both. */
export const agentReply = v.union([open({ value: json() }), open({ exception: agentException })]);
export type AgentReply = { readonly value: unknown } | { readonly exception: { readonly message: string } };

/** Immediate reply to a task-like message, and to `get_task` while the task runs. */
export const runningTask = open({ agent_task_id: text("agent_task_id"), state: v.literal("running") });
export type RunningTask = v.InferOutput<typeof runningTask>;

/** The largest reply NATS carries. */
export const LARGEST_NATS_REPLY = 1_048_576;

/** A reply as it goes over NATS: an oversized value is refused, an oversized message keeps its head and tail. */
export function fitForNats(reply: AgentReply, limit = LARGEST_NATS_REPLY): string {
  const whole = JSON.stringify(reply);
  if (Buffer.byteLength(whole) <= limit) return whole;
  if ("value" in reply)
    return JSON.stringify({ exception: { message: "Response exceeded maximum allowed length" } });
  return JSON.stringify({ exception: { message: shortened(reply.exception.message, limit) } });
}

const GAP = "\n...[truncated]...\n";

/** Escapes can make a text several times longer, so the cut is found by measuring. */
function shortened(message: string, limit: number): string {
  let keep = Math.floor(limit / 2);
  for (;;) {
    const cut = message.slice(0, keep) + GAP + message.slice(-keep);
    if (Buffer.byteLength(JSON.stringify({ exception: { message: cut } })) <= limit || keep < 16) return cut;
    keep = Math.floor(keep * 0.8);
  }
}
