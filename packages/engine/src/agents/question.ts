import type { Clock } from "@slipway/kernel/clock";
import { DeadlineExceeded, withDeadline } from "@slipway/kernel/deadline";
import type { Random } from "@slipway/kernel/random";
import type { AgentMessageName } from "@slipway/protocol/agent/messages";
import { AgentRefused, AgentSilent, type AskOptions } from "./agent.ts";
import { type ClientIdentity, exchange, Lost, type Peer, TooLong } from "./exchange.ts";
import { type Reply, readReply } from "./reply.ts";
import { nonsense, type Phase, silence, type Trouble, troubleOfTime } from "./trouble.ts";

export interface QuestionTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly directorUuid: string;
  /** What the Director shows to agents. */
  readonly identity: () => Promise<ClientIdentity>;
}

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
  peer: Peer,
  method: AgentMessageName,
  args: readonly unknown[],
  tools: QuestionTools,
  options: AskOptions,
): Promise<Answer> {
  for (let left = REPEATS[method] ?? 0; ; left--) {
    try {
      return await askUntilTimeout(peer, method, args, tools, options);
    } catch (error) {
      if (left === 0 || !(error instanceof NoAnswer) || !worthRepeating(method, error)) throw error;
    }
  }
}

/** A task goes on without us. An agent that could not be reached was tried all along. */
const worthRepeating = (method: AgentMessageName, { trouble }: NoAnswer) =>
  trouble.kind === "lost" || (trouble.kind !== "nonsense" && method === "get_task");

async function askUntilTimeout(
  peer: Peer,
  method: AgentMessageName,
  args: readonly unknown[],
  tools: QuestionTools,
  options: AskOptions,
): Promise<Answer> {
  const { clock } = tools;
  const { signal, timeoutMs = ANSWER_MS } = options;
  const started = clock.monotonic();
  for (;;) {
    const left = Math.max(1, started + timeoutMs - clock.monotonic());
    const outcome = await tryOnce(peer, method, args, tools, left, signal);
    const time = clock.monotonic() - started;
    const over = time + PAUSE_MS >= timeoutMs;
    if (outcome.kind !== "trouble") {
      // It has done nothing of it: it is starting.
      const later = method !== "ping" && outcome.kind === "exception" && isNotYet(outcome.message);
      if (!later || over) return answerOf(outcome, peer, method);
    } else {
      const { trouble, cause, late } = outcome;
      const mayRepeat = trouble.kind !== "lost" || HARMLESS.has(method);
      if (late || over || !mayRepeat) throw noAnswer(peer, method, trouble, time, cause);
      // The next connection is a new one.
      if (trouble.kind === "stale") continue;
    }
    await clock.sleep(PAUSE_MS, signal);
  }
}

function noAnswer(peer: Peer, method: string, trouble: Trouble, ms: number, cause?: unknown): NoAnswer {
  const message = `${nameOf(peer)} did not answer ${method} (tried for ${Math.round(ms / 1000)} s): ${trouble.what}; next: ${trouble.next}`;
  return new NoAnswer(message, trouble, cause);
}

/** How an agent says that it is there but not ready, and does nothing of what it was asked. */
export const isNotYet = (message: string): boolean => message.startsWith("restarting agent");

type Outcome =
  | Reply
  | {
      readonly kind: "trouble";
      readonly trouble: Trouble;
      readonly cause?: unknown;
      /** The time is up. */
      readonly late: boolean;
    };

async function tryOnce(
  peer: Peer,
  method: AgentMessageName,
  args: readonly unknown[],
  tools: QuestionTools,
  withinMs: number,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const replyTo = `director.${tools.directorUuid}.${peer.agentId}.${tools.random.uuid()}`;
  const envelope = JSON.stringify({ protocol: 3, method, arguments: args, reply_to: replyTo });
  const identity = await tools.identity();
  const trace: { phase: Phase } = { phase: "connecting" };
  try {
    const answer = await withDeadline(method, withinMs, tools.clock, signal, (inner) =>
      exchange(peer, identity, envelope, inner, trace),
    );
    const reply = readReply(answer, [peer.password]);
    return reply.kind === "silence" ? { kind: "trouble", trouble: silence, late: false } : reply;
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (DeadlineExceeded.is(error))
      return { kind: "trouble", trouble: troubleOfTime(trace.phase), late: true };
    if (error instanceof TooLong) return { kind: "junk", what: error.message };
    if (error instanceof Lost)
      return { kind: "trouble", trouble: error.trouble, cause: error.cause, late: false };
    throw error;
  }
}

function answerOf(reply: Reply, peer: Peer, method: string): Answer {
  switch (reply.kind) {
    case "value":
    case "task":
    case "exception":
      return reply;
    case "denied":
      throw new AgentRefused(
        `${nameOf(peer)} refused ${method}: it does not accept this Director's password; see that the VM was created by this Director with its present state directory, otherwise recreate it`,
      );
    case "silence":
    case "junk":
      throw noSense(peer, method, reply.kind === "junk" ? reply.what : "nothing");
  }
}

/** An answer came that cannot be one to this question. */
export function noSense(peer: Peer, method: string, what: string): NoAnswer {
  const trouble = nonsense(method, what);
  return new NoAnswer(`${nameOf(peer)} makes no sense: ${trouble.what}; next: ${trouble.next}`, trouble);
}

export const nameOf = (peer: Pick<Peer, "agentId" | "host" | "port">): string =>
  `agent ${peer.agentId} at ${peer.host.includes(":") ? `[${peer.host}]` : peer.host}:${peer.port}`;
