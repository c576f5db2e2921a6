import type { TaskType } from "@slipway/protocol/director/task";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type * as v from "valibot";
import { type Call, checked } from "./call.ts";
import { ContextIdTooLong } from "./refusals.ts";
import { type Reply, toTask } from "./reply.ts";
import { LONGEST_CONTEXT_ID, traceParentOf } from "./request-id.ts";
import type { Services } from "./services.ts";

export interface TaskOrder<S extends v.GenericSchema> {
  readonly type: TaskType;
  readonly description: string;
  readonly deployment?: string;
  readonly params: v.InferInput<S>;
}

/** Checks what the task is to do, puts it in the queue, and sends the caller there. */
export async function startTask<const S extends v.GenericSchema<unknown, object>>(
  call: Pick<Call, "user" | "header" | "requestId">,
  services: Services,
  schema: S,
  order: TaskOrder<S>,
): Promise<Reply<never>> {
  const params = checked(schema, order.params, "task");
  const id = await services.tasks.enqueue({
    type: order.type,
    description: order.description,
    user: call.user,
    ...(order.deployment === undefined ? {} : { deployment: order.deployment }),
    contextId: contextId(call),
    traceParent: traceParentOf(call.header("traceparent")),
    // What is undefined is left out, as JSON has it.
    params: JSON.parse(JSON.stringify(params)) as JsonObject,
  });
  return toTask(id);
}

/** Returns the context id as the caller gave it, or else the request's id in the log. */
function contextId(call: Pick<Call, "header" | "requestId">): string {
  const id = call.header("x-bosh-context-id") || call.requestId;
  if (id.length <= LONGEST_CONTEXT_ID) return id;
  throw ContextIdTooLong({ most: LONGEST_CONTEXT_ID });
}
