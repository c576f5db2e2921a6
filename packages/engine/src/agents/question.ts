import type { Clock } from "@slipway/kernel/clock";
import type { AgentMessageName } from "@slipway/protocol/agent/messages";
import { AgentRefused, AgentSilent, type AskOptions } from "./agent.ts";
import type { Reply } from "./reply.ts";
import type { AgentTransport } from "./transport.ts";
import { nonsense, type Trouble } from "./trouble.ts";

/** What is left once transport and form are dealt with. */
export type Answer = Extract<Reply, { readonly kind: "value" | "task" | "exception" }>;

/** No answer, with the cause as far as it is known. */
export class NoAnswer extends AgentSilent {
  readonly trouble: Trouble;

  constructor(message: string, trouble: Trouble, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.trouble = trouble;
  }
}

export const ANSWER_MS = 45_000;
/** Between tries to bring a question to an agent that cannot be reached, such as one that restarts. */
const PAUSE_MS = 1_000;

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
  for (let left = REPEATS[method] ?? 0; ; left--) {
    try {
      return await askUntilTimeout(to, method, args, clock, options);
    } catch (error) {
      if (left === 0 || !(error instanceof NoAnswer) || !worthRepeating(method, error)) throw error;
    }
  }
}

/** A task goes on without us. An agent that could not be reached was tried all along. */
const worthRepeating = (method: AgentMessageName, { trouble }: NoAnswer) =>
  trouble.kind === "lost" || (trouble.kind !== "nonsense" && method === "get_task");

async function askUntilTimeout(
  to: AgentTransport,
  method: AgentMessageName,
  args: readonly unknown[],
  clock: Clock,
  options: AskOptions,
): Promise<Answer> {
  const { signal, timeoutMs = ANSWER_MS } = options;
  const started = clock.monotonic();
  for (;;) {
    const left = Math.max(1, started + timeoutMs - clock.monotonic());
    const outcome = await to.send({ method, arguments: args }, left, signal);
    const time = clock.monotonic() - started;
    const over = time + PAUSE_MS >= timeoutMs;
    if (outcome.kind !== "trouble") {
      // It has done nothing of it: it is starting.
      const later = method !== "ping" && outcome.kind === "exception" && isNotYet(outcome.message);
      if (!later || over) return answerOf(outcome, to, method);
    } else {
      const { trouble, cause, late } = outcome;
      const mayRepeat = trouble.kind !== "lost" || HARMLESS.has(method);
      if (late || over || !mayRepeat) throw noAnswer(to, method, trouble, time, cause);
      // The next connection is a new one.
      if (trouble.kind === "stale") continue;
    }
    await clock.sleep(PAUSE_MS, signal);
  }
}

function noAnswer(to: Named, method: string, trouble: Trouble, ms: number, cause?: unknown): NoAnswer {
  const message = `${to.name} did not answer ${method} (tried for ${Math.round(ms / 1000)} s): ${trouble.what}; next: ${trouble.next}`;
  return new NoAnswer(message, trouble, cause);
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
      throw noSense(to, method, reply.kind === "junk" ? reply.what : "nothing");
  }
}

/** Who is talked of. */
type Named = Pick<AgentTransport, "name">;

/** An answer came that cannot be one to this question. */
export function noSense(to: Named, method: string, what: string): NoAnswer {
  const trouble = nonsense(method, what);
  return new NoAnswer(`${to.name} makes no sense: ${trouble.what}; next: ${trouble.next}`, trouble);
}
