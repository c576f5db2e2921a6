import { parseStrictJson } from "@slipway/kernel/strict-json";
import { agentException } from "@slipway/protocol/agent/envelope";
import { kindOf, matches } from "@slipway/protocol/schema/check";
import { isObject } from "@slipway/protocol/schema/json";

/** An HTTP response of an agent. */
export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** A decoded reply of an agent. `silence`: the agent deliberately said that it cannot answer yet. */
export type Reply =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "task"; readonly id: string }
  | { readonly kind: "exception"; readonly message: string }
  | { readonly kind: "denied" }
  | { readonly kind: "silence" }
  | { readonly kind: "junk"; readonly what: string };

const LONGEST_MESSAGE = 8_000;
const LONGEST_QUOTE = 120;

/** Decodes an HTTP response of an agent. `secrets` are texts that a quoted answer must not contain. */
export function readHttpReply(answer: HttpAnswer, secrets: readonly string[]): Reply {
  if (answer.status === 401) return { kind: "denied" };
  // An agent that restarts answers so to get_task: an exception would be taken for the failure of the task.
  if (answer.status === 500 && answer.body === "") return { kind: "silence" };
  if (answer.status !== 200) return junk(`HTTP status ${answer.status}`, answer, secrets);
  if (answer.body.trim() === "") return { kind: "junk", what: "an empty body" };
  try {
    return readEnvelope(parseStrictJson(answer.body, "the reply"));
  } catch {
    return junk("something that is not JSON", answer, secrets);
  }
}

/** Decodes a reply over NATS, which is only the document. */
export function readReply(text: string): Reply {
  try {
    return readEnvelope(parseStrictJson(text, "the reply"));
  } catch {
    return { kind: "junk", what: `something that is not JSON (${text.length} characters)` };
  }
}

/** The document it sends, whatever carried it. */
function readEnvelope(reply: unknown): Reply {
  if (!isObject(reply))
    return { kind: "junk", what: `${kindOf(reply)} in place of {"value"} or {"exception"}` };
  if (Object.hasOwn(reply, "exception")) {
    const { exception } = reply;
    if (matches(agentException, exception))
      return { kind: "exception", message: shortened(exception.message) };
    return { kind: "junk", what: "an exception without a message" };
  }
  // Agents of old send the state of a task without the value around it.
  if (Object.hasOwn(reply, "value")) return readValue(reply.value);
  const bare = readValue(reply);
  return bare.kind === "task" ? bare : { kind: "junk", what: 'an object without "value" and "exception"' };
}

function readValue(value: unknown): Reply {
  if (!isObject(value)) return { kind: "value", value: value ?? null };
  const { agent_task_id: id, state } = value;
  if (id === undefined || state !== "running") return { kind: "value", value };
  if (typeof id === "string" && id.trim() !== "") return { kind: "task", id };
  return { kind: "junk", what: "a running task without an id" };
}

function shortened(message: string): string {
  if (message.length <= LONGEST_MESSAGE) return message;
  const half = LONGEST_MESSAGE / 2;
  return `${message.slice(0, half)}\n...[${message.length - LONGEST_MESSAGE} characters left out]...\n${message.slice(-half)}`;
}

function junk(what: string, answer: HttpAnswer, secrets: readonly string[]): Reply {
  const type = /^[\w.+/-]{1,60}/.exec(answer.contentType)?.[0];
  const plain = answer.body
    .slice(0, 4_000)
    .replace(/<[^<>]*>/g, " ")
    .replace(/[^\x20-\x7e]+/g, " ")
    .replace(/ +/g, " ")
    .trim();
  const tells = [...secrets, "PRIVATE KEY"].some((secret) => answer.body.includes(secret));
  const quote = tells || plain === "" ? "" : `: "${plain.slice(0, LONGEST_QUOTE)}"`;
  return {
    kind: "junk",
    what: `${what} (${type ?? "no content type"}, ${answer.body.length} characters)${quote}`,
  };
}
