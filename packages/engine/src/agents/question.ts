import type { Clock } from "@slipway/kernel/clock";
import type { AgentMessageName } from "@slipway/protocol/agent/messages";
import { AgentRefused, AgentSilent, type AskOptions } from "./agent.ts";
import type { Reply } from "./reply.ts";
import type { AgentTransport } from "./transport.ts";
import { failureOfReply, type TransportFailure } from "./transport-failure.ts";

/** Reply of an agent, once transport and format errors are handled. */
export type Answer = Extract<Reply, { readonly kind: "value" | "task" | "exception" }>;

/** No answer, with the cause as far as it is known. */
export class NoAnswer extends AgentSilent {
  readonly failure: TransportFailure;

  constructor(message: string, failure: TransportFailure, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.failure = failure;
  }
}

export const ANSWER_MS = 45_000;
/** Between tries to bring a question to an agent that cannot be reached, such as one that restarts. */
const PAUSE_MS = 1_000;

export const CANCEL_MS = 5_000;
/** Messages whose task is canceled when the caller cancels. */
export const CANCELLED: readonly AgentMessageName[] = ["drain", "run_errand", "fetch_logs"];

/** How often a question is repeated that was not answered in time. */
const REPEATS: Partial<Record<AgentMessageName, number>> = { get_state: 2, get_task: 4 };

/** Asking these once more does no harm, whatever became of the first time. */
const HARMLESS = new Set<AgentMessageName>([
  "ping",
  "info",
  "get_state",
  "get_task",
  "list_disk",
  "cancel_task",
]);

/** Asks one agent one thing. An exception is an answer; no answer is `NoAnswer`, a stranger's `WrongAgent`. */
export async function ask(
  to: AgentTransport,
  method: AgentMessageName,
  args: readonly unknown[],
  clock: Clock,
  options: AskOptions,
): Promise<Answer> {
  for (let left = options.once === true ? 0 : (REPEATS[method] ?? 0); ; left--) {
    try {
      return CANCELLED.includes(method)
        ? await askForId(to, method, args, clock, options)
        : await askUntilTimeout(to, method, args, clock, options);
    } catch (error) {
      if (left === 0 || !(error instanceof NoAnswer) || !worthRepeating(method, error)) throw error;
    }
  }
}

/** The id of a task that is to be cancelled with us is waited for a little even when we leave. */
async function askForId(
  to: AgentTransport,
  method: AgentMessageName,
  args: readonly unknown[],
  clock: Clock,
  options: AskOptions,
): Promise<Answer> {
  const { signal } = options;
  if (signal === undefined) return await askUntilTimeout(to, method, args, clock, options);
  signal.throwIfAborted();
  const late = new AbortController();
  let cancel = () => {};
  const leave = () => {
    cancel = clock.after(CANCEL_MS, () => late.abort(signal.reason));
  };
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await askUntilTimeout(to, method, args, clock, { ...options, signal: late.signal });
  } finally {
    cancel();
    signal.removeEventListener("abort", leave);
  }
}

/** A task goes on without us. An agent that could not be reached was tried all along. */
const worthRepeating = (method: AgentMessageName, { failure }: NoAnswer) =>
  failure.kind === "lost" || (failure.kind !== "nonsense" && method === "get_task");

async function askUntilTimeout(
  to: AgentTransport,
  method: AgentMessageName,
  args: readonly unknown[],
  clock: Clock,
  options: AskOptions,
): Promise<Answer> {
  const { timeoutMs = ANSWER_MS } = options;
  const started = clock.monotonic();
  let last: TransportFailure | undefined;
  let cancel = () => {};
  const tellIn = (ms: number) => {
    cancel = clock.after(ms, () => {
      const time = clock.monotonic() - started;
      options.waits?.(waitsFor(to.name, `has not answered ${method}`, time, timeoutMs, last?.what));
      tellIn(TELL_EVERY_MS);
    });
  };
  if (options.waits !== undefined && timeoutMs > TELL_AFTER_MS) tellIn(TELL_AFTER_MS);
  try {
    return await askInTime(to, method, args, clock, { ...options, timeoutMs, started }, (failure) => {
      last = failure;
    });
  } finally {
    cancel();
  }
}

/** Time until the first report that an agent takes long, and between reports. */
const TELL_AFTER_MS = 5_000;
const TELL_EVERY_MS = 15_000;

/** Returns `agent 4b0f at 10.0.0.2:6868 has not answered stop for 5 s, and is given 45 s: nobody listens there`. */
export const waitsFor = (
  name: string,
  how: string,
  ms: number,
  mostMs: number,
  why: string | undefined,
): string =>
  `${name} ${how} for ${Math.round(ms / 1000)} s, and is given ${Math.round(mostMs / 1000)} s${why === undefined ? "" : `: ${why}`}`;

async function askInTime(
  to: AgentTransport,
  method: AgentMessageName,
  args: readonly unknown[],
  clock: Clock,
  options: Pick<AskOptions, "signal"> & { readonly timeoutMs: number; readonly started: number },
  seen: (failure: TransportFailure) => void,
): Promise<Answer> {
  const { signal, timeoutMs, started } = options;
  for (;;) {
    const left = Math.max(1, started + timeoutMs - clock.monotonic());
    const outcome = await to.send({ method, arguments: args, harmless: HARMLESS.has(method) }, left, signal);
    const time = clock.monotonic() - started;
    const over = time + PAUSE_MS >= timeoutMs;
    if (outcome.kind !== "failed") {
      // It has done nothing of it: it is starting.
      const later = method !== "ping" && outcome.kind === "exception" && isNotYet(outcome.message);
      if (!later || over) return answerOf(outcome, to, method);
    } else {
      const { failure, cause, late } = outcome;
      seen(failure);
      const mayRepeat = failure.kind !== "lost" || HARMLESS.has(method);
      if (late || over || !mayRepeat) throw noAnswer(to, method, failure, time, cause);
      // The next connection is a new one.
      if (failure.kind === "stale") continue;
    }
    await clock.sleep(PAUSE_MS, signal);
  }
}

function noAnswer(
  to: Named,
  method: string,
  failure: TransportFailure,
  ms: number,
  cause?: unknown,
): NoAnswer {
  const message = `${to.name} did not answer ${method} (tried for ${Math.round(ms / 1000)} s): ${failure.what}; next: ${failure.next}`;
  return new NoAnswer(message, failure, cause);
}

/** How an agent says that it is there but not ready, and does nothing of what it was asked. */
export const isNotYet = (message: string): boolean => message.startsWith("restarting agent");

function answerOf(reply: Reply, to: Named, method: string): Answer {
  switch (reply.kind) {
    case "value":
    case "task":
    case "exception":
      return reply;
    case "denied":
      throw new AgentRefused(
        `${to.name} refused ${method}: it does not accept this Director's password; see that the VM was created by this Director with its present state directory, otherwise recreate it`,
      );
    case "silence":
    case "junk":
      throw invalidReply(to, method, reply.kind === "junk" ? reply.what : "nothing");
  }
}

/** The agent that an error is about. */
type Named = Pick<AgentTransport, "name">;

/** An answer came that cannot be one to this question. */
export function invalidReply(to: Named, method: string, what: string): NoAnswer {
  const failure = failureOfReply(method, what);
  return new NoAnswer(`${to.name} makes no sense: ${failure.what}; next: ${failure.next}`, failure);
}
