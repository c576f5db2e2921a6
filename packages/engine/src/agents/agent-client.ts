import type { Clock } from "@slipway/kernel/clock";
import { AGENT_MESSAGES, type AgentMessageName } from "@slipway/protocol/agent/messages";
import { check } from "@slipway/protocol/schema/check";
import { type JsonObject, open, text } from "@slipway/protocol/schema/json";
import { networks } from "@slipway/protocol/settings/networks";
import * as v from "valibot";
import {
  type Agent,
  AgentRefused,
  AgentSilent,
  type AgentState,
  AgentUnaware,
  type AskOptions,
} from "./agent.ts";
import { type Answer, ask, noSense } from "./question.ts";
import type { AgentTransport } from "./transport.ts";
import { waitUntilReady } from "./wait.ts";

export interface AgentClientOptions {
  readonly clock: Clock;
  readonly warn: (line: string) => void;
  /** After so long a stop is no longer waited for; default 300 s. */
  readonly stopWaitMs?: number;
}

/** A task is asked for at once, soon again, then every second: most take a few milliseconds, and a deploy has dozens. */
const POLLS_MS = [10, 25, 50, 100, 250, 500];
const POLL_MS = 1_000;
const STOP_WAIT_MS = 300_000;
const SHUTDOWN_MS = 5_000;
const CANCEL_MS = 5_000;
const LONGEST_DRAIN_S = 86_400;

const UNKNOWN = /unknown message/;
const STOP_TIMED_OUT = /Timed out waiting for service/;

/** As far as it is read; the rest is passed on. */
const stateReply = open({ job_state: text("job_state"), networks });

/** What a message came to. `left`: its task still runs, and is no longer waited for. */
type Outcome = Extract<Answer, { readonly kind: "value" | "exception" }> | { readonly kind: "left" };

/** The protocol of agents: messages, tasks that are polled to their end, what a failure means. */
export function agentClient(to: AgentTransport, options: AgentClientOptions): Agent {
  const { clock, warn } = options;
  const question = (method: AgentMessageName, args: readonly unknown[], asked: AskOptions) =>
    ask(to, method, args, clock, asked);

  /** Asks, and follows the task to its end; for `withinMs` if that is given. */
  const follow = async (
    method: AgentMessageName,
    args: readonly unknown[],
    asked: AskOptions,
    withinMs = Number.POSITIVE_INFINITY,
  ): Promise<Outcome> => {
    const started = clock.monotonic();
    const first = await question(method, args, asked);
    if (first.kind !== "task") return first;
    try {
      for (let poll = 0; ; poll++) {
        asked.noted?.("polled");
        const answer = await question("get_task", [first.id], asked);
        if (answer.kind !== "task") return answer;
        if (clock.monotonic() - started >= withinMs) return { kind: "left" };
        await clock.sleep(POLLS_MS[poll] ?? POLL_MS, asked.signal);
      }
    } catch (error) {
      if (asked.signal?.aborted && method === "drain") await cancelTask(first.id);
      throw error;
    }
  };

  /** Advisory: the caller is leaving, whatever comes of it. */
  const cancelTask = async (id: string) => {
    try {
      await question("cancel_task", [id], { timeoutMs: CANCEL_MS });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      warn(`${to.name} could not be told to cancel its drain: ${error.message}`);
    }
  };

  const refused = (method: string, message: string) => {
    const Refused = UNKNOWN.test(message) ? AgentUnaware : AgentRefused;
    return new Refused(`${to.name} refused ${method}: ${message}`);
  };

  const value = async (method: AgentMessageName, args: readonly unknown[], asked: AskOptions = {}) => {
    const outcome = await follow(method, args, asked);
    if (outcome.kind === "exception") throw refused(method, outcome.message);
    return outcome.kind === "value" ? outcome.value : null;
  };

  const done = async (method: AgentMessageName, args: readonly unknown[], asked?: AskOptions) => {
    await value(method, args, asked);
  };

  /** Agents that do not know the message yet get by without it. */
  const doneIfKnown = async (method: AgentMessageName, args: readonly unknown[], asked: AskOptions = {}) => {
    const outcome = await follow(method, args, asked);
    if (outcome.kind !== "exception") return;
    if (!UNKNOWN.test(outcome.message)) throw refused(method, outcome.message);
    asked.noted?.("unknown");
    warn(`${to.name} does not know ${method}; going on without it`);
  };

  const drainSeconds = async (args: readonly unknown[], asked: AskOptions): Promise<number> => {
    const seconds = await value("drain", args, asked);
    if (typeof seconds === "number" && Number.isInteger(seconds)) return seconds;
    throw noSense(to, "drain", "something that is not a number of seconds");
  };

  /** For at most a day: then the drain is taken to be over. */
  const waitForDrain = async (seconds: number, asked: AskOptions) => {
    if (seconds > LONGEST_DRAIN_S)
      warn(`${to.name} asks for ${seconds} s to drain; it gets ${LONGEST_DRAIN_S}`);
    await clock.sleep(Math.min(seconds, LONGEST_DRAIN_S) * 1000, asked.signal);
  };

  return {
    ping: async (asked = {}) => {
      if ((await value("ping", [], asked)) !== "pong") throw noSense(to, "ping", "something else than pong");
    },
    waitUntilReady: ({ withinMs, signal, noted }) =>
      waitUntilReady({
        name: to.name,
        withinMs,
        clock,
        signal,
        ping: (timeoutMs) => {
          noted?.("polled");
          return question("ping", [], { signal, timeoutMs });
        },
      }),
    getState: async (full, asked = {}) => stateOf(await value("get_state", full ? ["full"] : [], asked), to),
    apply: (spec, asked) => done("apply", [spec], asked),
    prepare: (spec, asked) => done("prepare", [spec], asked),
    start: (asked) => done("start", [], asked),
    stop: async (asked = {}) => {
      const withinMs = options.stopWaitMs ?? STOP_WAIT_MS;
      const outcome = await follow("stop", [], asked, withinMs);
      if (outcome.kind === "left")
        warn(`${to.name} did not stop its jobs within ${withinMs / 1000} s; going on without waiting`);
      if (outcome.kind !== "exception") return;
      if (!STOP_TIMED_OUT.test(outcome.message)) throw refused("stop", outcome.message);
      warn(`${to.name}: ${outcome.message}; going on`);
    },
    drain: async (type, spec, asked = {}) => {
      let seconds = await drainSeconds([type, spec], asked);
      // Below 0: wait so long, then ask again how it goes.
      while (seconds < 0) {
        await waitForDrain(-seconds, asked);
        seconds = await drainSeconds(["status"], asked);
      }
      if (seconds > 0) await waitForDrain(seconds, asked);
    },
    runScript: (name, env, asked) => doneIfKnown("run_script", [name, { env }], asked),
    listDisk: async (asked) => {
      const cids = await value("list_disk", [], asked);
      const checked = check(v.array(text("a disk cid")), cids, "list_disk");
      if (checked.ok) return checked.value;
      throw noSense(to, "list_disk", `no list of disk cids (${checked.problems.join("; ")})`);
    },
    addPersistentDisk: (cid, hint, asked) => doneIfKnown("add_persistent_disk", [cid, hint], asked),
    removePersistentDisk: (cid, asked) => doneIfKnown("remove_persistent_disk", [cid], asked),
    mountDisk: (cid, asked) => done("mount_disk", [cid], asked),
    unmountDisk: (cid, asked) => done("unmount_disk", [cid], asked),
    migrateDisk: (from, to, asked) => done("migrate_disk", [from, to], asked),
    updateSettings: (settings, asked) => doneIfKnown("update_settings", [settings], asked),
    writeStoreFile: (path, content, asked) => done("write_store_file", [{ path, content }], asked),
    readStoreFile: async (path, asked) => {
      const { result } = AGENT_MESSAGES.read_store_file;
      const checked = check(result, await value("read_store_file", [{ path }], asked), "read_store_file");
      if (checked.ok) return checked.value.content;
      throw noSense(to, "read_store_file", `no text of a file (${checked.problems.join("; ")})`);
    },
    shutdown: async (asked = {}) => {
      try {
        await question("shutdown", [], { timeoutMs: SHUTDOWN_MS, ...asked });
      } catch (error) {
        // It may be off before it has answered.
        if (asked.signal?.aborted || !(error instanceof AgentSilent)) throw error;
      }
    },
  };
}

function stateOf(value: unknown, to: AgentTransport): AgentState {
  const checked = check(stateReply, value, "get_state");
  if (!checked.ok) throw noSense(to, "get_state", `no state of an agent (${checked.problems.join("; ")})`);
  const raw = checked.value as unknown as JsonObject;
  return { jobState: checked.value.job_state, networks: checked.value.networks, raw };
}
