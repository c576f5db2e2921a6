import { errorText, messageTrail, SlipwayError } from "@slipway/kernel/errors";
import type { AgentReply } from "@slipway/protocol/agent/envelope";
import type { Message } from "@slipway/protocol/agent/message";
import { messageNamed } from "@slipway/protocol/agent/messages";
import type { ActionCall, ActionTable } from "../actions/action.ts";
import type { AgentServices } from "../services.ts";
import type { RequestHandler } from "../transports/transport.ts";
import { readArguments } from "./arguments.ts";
import { Duplicates } from "./duplicates.ts";
import { type ReceivedRequest, readRequest } from "./envelope.ts";
import { KeyedQueue } from "./keyed-queue.ts";
import { scrubberOf } from "./scrub.ts";
import type { TaskQueue } from "./tasks.ts";

export interface DispatcherOptions {
  readonly actions: ActionTable;
  readonly services: AgentServices;
  readonly tasks: TaskQueue;
  /** Aborted when the agent ends. */
  readonly ending?: AbortSignal;
  /**
   * Returns what the agent still waits for. Undefined if it is ready. Until then messages are refused with this cause,
   * so that callers that ping learn it; messages about tasks are answered all the same.
   */
  readonly waitingFor?: () => string | undefined;
  /**
   * How long an answer that would say "running" may wait for the end of the task: the first one, which says so in any
   * case unless its sender takes results, and every one to get_task. Most tasks end within milliseconds, and a caller
   * that hears "running" sleeps before it asks again. By default answers do not wait.
   */
  readonly holdMs?: number;
}

/** From this protocol on, `by-protocol` messages are tasks. */
const TASKS_FROM_PROTOCOL = 3;

/** Messages that change nothing and are answered while anything else runs. */
const READS = new Set(["ping", "info", "get_state", "list_disk", "get_task", "cancel_task"]);

/** Asked every second, also while the answer is a failure; a log full of them hides the rest. */
const POLLED = new Set(["ping", "get_task"]);

const ABOUT_TASKS = new Set(["get_task", "cancel_task"]);

/** Actions take their own arguments; that they are the right ones is what the schemas have checked. */
type AnyAction = (args: Readonly<Record<string, unknown>>, call: ActionCall) => Promise<unknown>;

interface Invocation {
  readonly message: Message;
  readonly action: AnyAction;
  readonly request: ReceivedRequest;
  readonly scrub: (text: string) => string;
}

/**
 * Answers requests, whatever way they came. Tasks run one after the other in the order they came; other messages that
 * change something run one after the other by name; reads wait for nothing. So `ping` and `get_task` are answered
 * while a slow message runs, which over NATS is more than upstream's agent does.
 */
export function makeDispatcher(options: DispatcherOptions): RequestHandler {
  const { log } = options.services;
  const duplicates = new Duplicates();
  const answer = makeAnswer(options);
  return async (body, caller) => {
    const request = readRequest(body);
    if (request === undefined) {
      log.warn(`a request from ${caller} could not be read`);
      return { kind: "unreadable" };
    }
    return await duplicates.once(request.replyTo, body, async () => {
      const reply = await answer(request).catch((error: unknown): AgentReply => {
        log.error(oneLine(errorText(error)));
        return failure(`Action Failed ${request.method}: ${messageTrail(error)}`);
      });
      logOutcome(options, request, reply, caller);
      return { kind: "reply", reply, replyTo: request.replyTo };
    });
  };
}

function makeAnswer({
  actions,
  services,
  tasks,
  ending = new AbortController().signal,
  waitingFor,
  holdMs = 0,
}: DispatcherOptions): (request: ReceivedRequest) => Promise<AgentReply> {
  const lanes = new KeyedQueue();

  const actionFor = (method: string): AnyAction | undefined => {
    if (method === "get_task")
      return async ({ taskId }) => {
        const id = String(taskId);
        if (holdMs > 0) await tasks.ended(id, holdMs, services.clock);
        return taskResult(tasks, id);
      };
    if (method === "cancel_task") return (args) => cancelled(tasks, String(args.taskId));
    const table = actions as Readonly<Record<string, unknown>>;
    return Object.hasOwn(table, method) ? (table[method] as AnyAction | undefined) : undefined;
  };

  const run = (invocation: Invocation, signal: AbortSignal): Promise<unknown> => {
    const { message, action, request } = invocation;
    const restart = (why: string) => {
      // A task that lives on in the next process must not end in this one.
      if (message.persistent) tasks.suspend();
      services.restart(why);
    };
    return action(readArguments(message, request.arguments), {
      services: { ...services, restart },
      protocol: request.protocol,
      signal,
    });
  };

  const asTask = async (invocation: Invocation): Promise<AgentReply> => {
    const { message, request, scrub } = invocation;
    try {
      const id = await tasks.submit({
        method: message.name,
        cancellable: message.cancellable ?? false,
        record: message.persistent ? request.body : undefined,
        run: async (signal) => {
          try {
            return await run(invocation, signal);
          } catch (error) {
            services.log.warn(`${message.name} failed: ${oneLine(scrub(errorText(error)))}`);
            throw new Error(scrub(messageTrail(error)));
          }
        },
      });
      if (holdMs > 0) await tasks.ended(id, holdMs, services.clock);
      const task = request.takesResult ? tasks.find(id) : undefined;
      if (task?.state === "done") return { value: task.value };
      // Never the result to others, even if there is one by now: upstream's create-env wants to see the task.
      return { value: { agent_task_id: id, state: "running" } };
    } catch (error) {
      return failed(invocation, error);
    }
  };

  const atOnce = async (invocation: Invocation): Promise<AgentReply> => {
    const { name } = invocation.message;
    const work = async () => (await run(invocation, ending)) ?? null;
    try {
      return { value: READS.has(name) ? await work() : await lanes.run(name, work) };
    } catch (error) {
      return failed(invocation, error);
    }
  };

  return async (request) => {
    const { method, protocol } = request;
    const message = messageNamed(method);
    const action = actionFor(method);
    if (message === undefined || action === undefined) return failure(`unknown message ${method}`);
    const waits = ABOUT_TASKS.has(method) ? undefined : waitingFor?.();
    // A Director asks again after these first words and gives up after any others.
    if (waits !== undefined) return failure(`restarting agent: ${waits}`);
    const invocation: Invocation = {
      message,
      action,
      request,
      scrub: scrubberOf(message, request.arguments),
    };
    const isTask =
      message.mode === "task" || (message.mode === "by-protocol" && protocol >= TASKS_FROM_PROTOCOL);
    return isTask ? await asTask(invocation) : await atOnce(invocation);
  };
}

const failure = (message: string): AgentReply => ({ exception: { message } });

const failed = ({ message, scrub }: Invocation, error: unknown): AgentReply =>
  failure(`Action Failed ${message.name}: ${scrub(messageTrail(error))}${adviceOf(error)}`);

/** Says what the operator of the Director can do about it. */
const adviceOf = (error: unknown): string =>
  error instanceof SlipwayError && error.kind === "operator" && error.next !== ""
    ? `; next: ${error.next}`
    : "";

function taskResult(tasks: TaskQueue, id: string): unknown {
  const task = tasks.find(id);
  if (task === undefined) throw noSuchTask(id);
  if (task.state === "running") return { agent_task_id: id, state: "running" };
  if (task.state === "failed") throw new Error(`Task ${id} result: ${task.error}`);
  return task.value;
}

async function cancelled(tasks: TaskQueue, id: string): Promise<unknown> {
  const outcome = tasks.cancel(id);
  if (outcome === "unknown") throw noSuchTask(id);
  if (outcome === "unsupported") throw new Error("not supported");
  return outcome;
}

const noSuchTask = (id: string) => new Error(`Task with id ${id} could not be found`);

function logOutcome(
  { services }: DispatcherOptions,
  request: ReceivedRequest,
  reply: AgentReply,
  caller: string,
) {
  const { method } = request;
  if (POLLED.has(method)) return;
  const known = messageNamed(method) !== undefined;
  // What a stranger calls a method may be anything, a line break included.
  const name = known ? method : JSON.stringify(method.slice(0, 64));
  if ("exception" in reply) services.log.warn(`${name} from ${caller}: ${oneLine(reply.exception.message)}`);
  else if (!READS.has(method)) services.log.info(`${name} from ${caller}${taskIn(reply.value)}`);
}

const oneLine = (text: string) => JSON.stringify(text.length > 1000 ? `${text.slice(0, 1000)}...` : text);

function taskIn(value: unknown): string {
  const id =
    typeof value === "object" && value !== null && "agent_task_id" in value ? value.agent_task_id : undefined;
  return typeof id === "string" ? `: task ${id}` : "";
}
