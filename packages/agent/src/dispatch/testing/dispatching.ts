import { join } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { AgentReply } from "@slipway/protocol/agent/envelope";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { onTestFinished } from "vitest";
import type { ActionTable } from "../../actions/action.ts";
import type { Log } from "../../log.ts";
import type { AgentServices } from "../../services.ts";
import type { RequestHandler } from "../../transports/transport.ts";
import { type DispatcherOptions, makeDispatcher } from "../dispatch.ts";
import { TaskQueue } from "../tasks.ts";

/** Ids that a test can foresee: `task-1`, `task-2`. */
export function countingRandom(): Random {
  let count = 0;
  return { uuid: () => `task-${++count}`, hex: () => "00", fraction: () => 0.5 };
}

export interface Dispatching {
  readonly handler: RequestHandler;
  readonly tasks: TaskQueue;
  readonly tasksFile: string;
  /** Every line that was logged. */
  readonly lines: readonly string[];
  readonly restarts: readonly string[];
  /** Sends a request and returns the reply; throws when there is none. */
  ask(method: string, args?: unknown, envelope?: object): Promise<AgentReply>;
  /** The result of a message that is a task, once it has ended. */
  outcome(method: string, args?: unknown, envelope?: object): Promise<AgentReply>;
}

export interface Setup extends Partial<Pick<DispatcherOptions, "waitingFor" | "ending" | "holdMs">> {
  readonly actions: ActionTable;
  /** Takes up the tasks of another one, as a restarted process does. */
  readonly after?: Dispatching;
  readonly clock?: Clock;
}

export async function dispatching({ actions, after, clock, ...options }: Setup): Promise<Dispatching> {
  const tasksFile = after?.tasksFile ?? join(await directory(), "bosh", "tasks.json");
  const lines: string[] = [];
  const log: Log = {
    info: (line) => void lines.push(line),
    warn: (line) => void lines.push(line),
    error: (line) => void lines.push(line),
  };
  const restarts: string[] = [];
  const services = { log, clock, restart: (why: string) => restarts.push(why) } as unknown as AgentServices;
  const tasks = await TaskQueue.open({ path: tasksFile, random: countingRandom(), log });
  const handler = makeDispatcher({ ...options, actions, services, tasks });
  const ask: Dispatching["ask"] = async (method, args = [], envelope = {}) => {
    const body = JSON.stringify({ protocol: 3, method, arguments: args, reply_to: "cli", ...envelope });
    const handled = await handler(body, "test");
    if (handled.kind !== "reply") throw new Error("the request could not be read");
    return handled.reply;
  };
  const outcome: Dispatching["outcome"] = async (method, args, envelope) => {
    const reply = await ask(method, args, envelope);
    await tasks.idle();
    return await ask("get_task", [taskId(reply)]);
  };
  return { handler, tasks, tasksFile, lines, restarts, ask, outcome };
}

async function directory(): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  return path;
}

export function taskId(reply: AgentReply): string {
  const value = "value" in reply ? (reply.value as { agent_task_id?: unknown; state?: unknown }) : {};
  if (typeof value.agent_task_id !== "string" || value.state !== "running")
    throw new Error(`this is not a task: ${JSON.stringify(reply)}`);
  return value.agent_task_id;
}

/** Work that ends when the test says so. */
export function gate<T = void>() {
  let open: (value: T) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const passed = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { passed, open, fail };
}
