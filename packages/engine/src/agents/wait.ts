import type { Clock } from "@slipway/kernel/clock";
import { AgentRefused, AgentSilent, WrongAgent } from "./agent.ts";
import { type Answer, isNotYet, NoAnswer, waitsFor } from "./question.ts";

export interface WaitOptions {
  /** `agent 4b0f at 10.0.0.2:6868`. */
  readonly name: string;
  readonly withinMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  /** Called now and then with the time waited so far. */
  readonly waits?: ((message: string) => void) | undefined;
  /** One ping that ends after `timeoutMs`. */
  readonly ping: (timeoutMs: number) => Promise<Answer>;
}

const PING_MS = 1_000;
/** Longest ping. A slow VM gets more time for its handshake, or the handshake would start over forever. */
const LONGEST_PING_MS = 5_000;
const PAUSE_MS = 250;
/** Time until the first report that a VM takes long to boot. Reports get rarer. */
const TELL_AFTER_MS = 10_000;

/** Last observation before the wait ended, for the error. */
interface Seen {
  readonly what: string;
  readonly next: string;
  readonly cause?: unknown;
  readonly wrong?: boolean;
}

const NOTHING: Seen = { what: "it was not asked in time", next: "give it more time" };

/** Pings until the agent says pong. Any exception but `restarting agent` is the end of it. */
export async function waitUntilReady(options: WaitOptions): Promise<void> {
  const { name, withinMs, clock, signal } = options;
  const started = clock.monotonic();
  let pingMs = PING_MS;
  let tellAt = TELL_AFTER_MS;
  let seen: Seen = NOTHING;
  /** Its own words, which say more than what came of the connection after them. */
  let said: { readonly words: string; readonly at: number } | undefined;
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted();
    const left = withinMs - (clock.monotonic() - started);
    try {
      const words = notYet(await options.ping(Math.max(1, Math.min(pingMs, left))), name);
      if (words === undefined) return;
      said = { words, at: clock.monotonic() };
      seen = { what: `it says that it is ${words}`, next: NEXT_WHEN_WAITING };
    } catch (error) {
      if (!(error instanceof NoAnswer) && !(error instanceof WrongAgent)) throw error;
      seen = seenIn(error);
      if (error instanceof NoAnswer && slow(error)) pingMs = Math.min(LONGEST_PING_MS, pingMs + PING_MS);
    }
    const time = clock.monotonic() - started;
    if (time + PAUSE_MS >= withinMs) throw gaveUp(tries);
    if (time >= tellAt) {
      options.waits?.(waitsFor(name, "has not been ready", time, withinMs, seen.what));
      tellAt = time * 2;
    }
    await clock.sleep(PAUSE_MS, signal);
  }

  function gaveUp(tries: number): Error {
    const now = clock.monotonic();
    const seconds = (ms: number) => Math.round(ms / 1000);
    const before =
      said === undefined || seen.what.includes(said.words)
        ? ""
        : `; ${seconds(now - said.at)} s before that it said that it was ${said.words}`;
    const message = `${name} was not ready within ${seconds(now - started)} s (${tries} tries): ${seen.what}${before}; next: ${seen.next}`;
    const cause = seen.cause === undefined ? undefined : { cause: seen.cause };
    return seen.wrong ? new WrongAgent(message, cause) : new AgentSilent(message, cause);
  }
}

const NEXT_WHEN_WAITING =
  "fix what it waits for, then deploy again; the agent's log in the VM (/var/vcap/bosh/log/current) says more";

/** Undefined when it is ready, else what it waits for. */
function notYet(answer: Answer, name: string): string | undefined {
  if (answer.kind === "value" && answer.value === "pong") return undefined;
  if (answer.kind !== "exception")
    throw new AgentRefused(`${name} answered ping with something else than pong; recreate the VM`);
  if (!isNotYet(answer.message)) throw new AgentRefused(`${name} refused ping: ${answer.message}`);
  return answer.message.replace(/^restarting agent:? */, "") || "restarting";
}

/** Returns true if the agent was connected and needed longer. */
const slow = (error: NoAnswer) => error.failure.phase !== "connecting";

function seenIn(error: NoAnswer | WrongAgent): Seen {
  if (error instanceof NoAnswer) {
    const { what, next } = error.failure;
    return { what, next, cause: error.cause };
  }
  return {
    what: error.message,
    next: "see which VM has this address, and that the CPI gave the new one its settings",
    cause: error.cause,
    wrong: true,
  };
}
