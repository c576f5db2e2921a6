import { AsyncLocalStorage } from "node:async_hooks";
import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import type { Random } from "@slipway/kernel/random";
import type { ConversationLine } from "@slipway/protocol/director/conversation-line";
import { scrubUrls } from "@slipway/protocol/schema/scrub";
import { type TaskWatch, UNWATCHED, type WatchedTask } from "../tasks/watch.ts";
import type { Span } from "./span.ts";

const LONGEST_ERROR = 1_000;
const errorText = (text: string): string => scrubUrls(text).slice(0, LONGEST_ERROR);

/**
 * A span for each run of a task, its steps, and its calls to CPIs and agents. A task belongs to the trace of the request
 * that asked for it, also after a crash; a caller that does not want to be traced is not.
 */
export function tracedTasks(
  add: (span: Span) => void,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): TaskWatch {
  /** Step that the running code belongs to. */
  const within = new AsyncLocalStorage<string>();
  return (task) => {
    const caller = callerOf(task);
    if (caller?.wanted === false) return UNWATCHED;
    const { traceId } = caller ?? { traceId: random.hex(16) };
    const run = random.hex(8);
    const from = clock.now();
    const parent = () => within.getStore() ?? run;
    return {
      step: (stage, step, tags) => {
        const span = { traceId, spanId: random.hex(8), parentId: parent(), from: clock.now() };
        return {
          inside: (work) => within.run(span.spanId, work),
          enter: () => within.enterWith(span.spanId),
          ended: (error) =>
            add({
              ...span,
              name: stage,
              kind: "internal",
              to: clock.now(),
              attributes: { "slipway.step": step, "slipway.tags": tags.join(",") || undefined },
              error: error === undefined ? undefined : errorText(messageTrail(error)),
            }),
        };
      },
      call: (line) => add({ ...callSpan(line), traceId, spanId: random.hex(8), parentId: parent() }),
      ended: (how, result) =>
        add({
          traceId,
          spanId: run,
          parentId: caller?.spanId,
          name: `task ${task.type}`,
          kind: "internal",
          from,
          to: clock.now(),
          attributes: { ...attributesOf(task), "slipway.task.state": how },
          error: how === "error" ? errorText(result ?? "") : undefined,
        }),
    };
  };
}

function callerOf({ traceParent }: WatchedTask) {
  const [, traceId, spanId, flags] = traceParent?.split("-") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, wanted: (Number.parseInt(flags, 16) & 1) === 1 };
}

const attributesOf = ({ id, type, user, deployment, attempt, contextId }: WatchedTask) => ({
  "slipway.task.id": id,
  "slipway.task.type": type,
  "slipway.task.attempt": attempt,
  "slipway.deployment": deployment,
  "slipway.request": contextId === "" ? undefined : contextId,
  "enduser.id": user,
});

/** Arguments and answers are in the conversation of the task. */
function callSpan({
  at,
  ms,
  to,
  message,
  instance,
  request_id,
  api_version,
  polls,
  error,
}: ConversationLine) {
  const [who, ...name] = to.split(":");
  return {
    name: `${who} ${message}`,
    kind: "client" as const,
    from: at,
    to: at + ms,
    attributes: {
      "rpc.method": message,
      [who === "cpi" ? "slipway.cpi" : "slipway.agent"]: name.join(":"),
      "slipway.cpi.request": request_id,
      "slipway.cpi.api_version": api_version,
      "slipway.instance": instance,
      "slipway.polls": polls,
    },
    error: error === undefined ? undefined : errorText(error),
  };
}
