import { StringDecoder } from "node:string_decoder";
import type { Clock } from "@slipway/kernel/clock";
import type { Task } from "@slipway/protocol/director/task";
import { Interrupted } from "../ui/errors.ts";
import type { FollowOptions, TaskOutcome } from "./director-api.ts";
import { EventPrinter } from "./event-log.ts";
import { failureOf } from "./task-failure.ts";
import { RUNNING } from "./tasks.ts";

/** Receives the progress of a task. */
export interface Teller {
  /** Part of a line or several. */
  chunk(text: string): void;
  taskBegins(task: number): void;
  /** Without a summary it had no events. */
  taskEnds(task: number, state: string, summary: string | undefined): void;
  note(text: string): void;
}

/** Prints nothing: for callers that print the progress themselves or follow no task. */
export const SILENT: Teller = { chunk() {}, taskBegins() {}, taskEnds() {}, note() {} };

export interface TaskFollowTools {
  readonly state: () => Promise<Pick<Task, "state" | "result">>;
  /** Returns a task's output from a byte on. */
  readonly since: (type: string, from: number) => Promise<Buffer>;
  readonly teller: Teller;
  readonly clock: Clock;
  readonly stop: AbortSignal;
}

const PAUSE_MS = 500;
/** A local Director is quick: the end of a short task need not be half a second late. */
const FIRST_PAUSE_MS = 50;

/** Follows to the end. The state is read before the output: what is written by then is all there will be. */
export async function followTask(
  task: number,
  options: FollowOptions,
  tools: TaskFollowTools,
): Promise<TaskOutcome> {
  const { raw } = options;
  const tell = tellerOf(task, options, tools.teller);
  const decoder = new StringDecoder("utf8");
  const onBytes = raw === undefined ? lines(tell.line) : (bytes: Buffer) => raw.print(decoder.write(bytes));
  try {
    const outcome = await readOn(task, raw?.type ?? "event", tools, onBytes);
    tell.end(outcome);
    if (outcome.state !== "done") throw failureOf(outcome, tell.error(), tell.printed);
    return outcome;
  } catch (error) {
    if (tools.stop.aborted) tell.left();
    throw error;
  }
}

/** Cuts bytes into lines; what has no end yet waits for it. */
function lines(onLine: (line: string) => void): (bytes: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      onLine(rest.subarray(0, end).toString("utf8"));
      rest = rest.subarray(end + 1);
    }
  };
}

async function readOn(
  task: number,
  type: string,
  { state: now, clock, stop, since }: TaskFollowTools,
  onBytes: (bytes: Buffer) => void,
): Promise<TaskOutcome> {
  let from = 0;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(PAUSE_MS, pause * 2)) {
    const { state, result } = await now();
    const news = await since(type, from);
    from += news.length;
    if (news.length > 0) onBytes(news);
    if (!RUNNING.includes(state)) return { id: task, state, result: result ?? "" };
    await clock.sleep(pause, stop).catch(() => {
      throw new Interrupted();
    });
  }
}

function tellerOf(task: number, { quiet = false, onEvent, raw }: FollowOptions, teller: Teller) {
  const log = new EventPrinter(task);
  const silent = quiet || onEvent !== undefined || raw !== undefined;
  if (!silent) teller.taskBegins(task);
  return {
    line: (line: string) => {
      const pieces = log.add(line);
      if (onEvent !== undefined) onEvent(line);
      else if (!quiet) for (const piece of pieces) teller.chunk(piece);
    },
    end: ({ state }: TaskOutcome) => {
      if (!silent) teller.taskEnds(task, state, log.summary());
    },
    printed: !silent,
    error: () => log.error,
    left: () =>
      teller.note(
        `Task ${task} goes on without you. \`slipway task ${task}\` follows it again, \`slipway cancel-task ${task}\` cancels it.`,
      ),
  };
}
