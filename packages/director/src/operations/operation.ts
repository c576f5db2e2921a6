import { type RecordingClients, recordCalls, timed } from "@slipway/engine/recorder/recorder";
import type { FlowContext, Outside } from "@slipway/engine/steps/context";
import { check } from "@slipway/protocol/schema/check";
import type * as v from "valibot";
import type { Db } from "../store/schema.ts";
import type { TaskContext, TaskWork } from "../tasks/task.ts";
import { ParamsUnreadable } from "./errors.ts";

/** What the work of tasks is done with. */
export interface OperationContext extends Outside {
  /** For reading. What a task writes goes through `task.write`, which is fenced. */
  readonly db: Db;
  /** Where uploads lie until their task is done, and where archives are unpacked. */
  readonly uploadsDir: string;
  readonly options: {
    readonly enableCpiResizeDisk: boolean;
    readonly enableCpiUpdateDisk: boolean;
  };
  /** Addresses no VM may get: the Director's own. */
  readonly ownIps: readonly string[];
  /** In the hands of a task: the clients for calls about one instance. */
  readonly about?: RecordingClients["about"];
}

/** One type of task: what it is told, and what it does. */
export function operation<const S extends v.GenericSchema>(
  params: S,
  work: (params: v.InferOutput<S>, task: TaskContext, tools: OperationContext) => Promise<string>,
): (tools: OperationContext) => TaskWork {
  return (tools) => async (given, task) => {
    const checked = check(params, given, "params");
    if (!checked.ok) throw ParamsUnreadable({ task: task.id, problems: checked.problems.join("; ") });
    const write: TaskContext["conversation"] = (line) => task.conversation(line);
    const recording = { ...tools, ...recordCalls(tools, tools.clock, write) };
    return await timed(task.type, tools.clock, write, () => work(checked.value, task, recording));
  };
}

/** The view of one task on the world outside. */
export function flowContext(tools: OperationContext, task: TaskContext, deployment: string): FlowContext {
  const { clouds, agents, about, clock, random, settings } = tools;
  return {
    clouds,
    agents,
    about,
    journal: task.journal,
    clock,
    random,
    settings,
    deployment,
    signal: task.signal,
    debug: (line) => task.debug(line),
    cpiLog: (text) => task.cpi(text),
    audit: (event) => task.audit(event),
  };
}

export const deploymentLock = (name: string): string => `lock:deployment:${name}`;
/** As long as upstream waits for somebody else's deploy. */
export const DEPLOYMENT_LOCK_MS = 10_000;
