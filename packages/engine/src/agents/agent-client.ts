import type { Clock } from "@slipway/kernel/clock";
import { AGENT_MESSAGES, type AgentMessageName } from "@slipway/protocol/agent/messages";
import { check } from "@slipway/protocol/schema/check";
import { type JsonObject, open, text } from "@slipway/protocol/schema/json";
import { checkWithoutNulls } from "@slipway/protocol/schema/without-nulls";
import { networks } from "@slipway/protocol/settings/networks";
import * as v from "valibot";
import {
  type Agent,
  AgentRefused,
  AgentSilent,
  type AgentState,
  AgentUnaware,
  type AskOptions,
  type PackageBlob,
  stateFilters,
} from "./agent.ts";
import { type Answer, ask, CANCEL_MS, CANCELLED, invalidReply } from "./question.ts";
import type { AgentTransport } from "./transport.ts";
import { waitUntilReady } from "./wait.ts";

export interface AgentClientOptions {
  readonly clock: Clock;
  readonly warn: (line: string) => void;
  /** After so long a stop is no longer waited for; default 300 s. */
  readonly stopWaitMs?: number;
}

/** A task is asked for at once, soon again, then every second: most take a few milliseconds, and a deploy has dozens. */
const POLLS_MS = [10, 15, 25, 50, 100, 250, 500];
const POLL_MS = 1_000;
const STOP_WAIT_MS = 300_000;
const SHUTDOWN_MS = 5_000;
const LONGEST_DRAIN_S = 86_400;
const BLOB_MS = 600_000;
/** An errand has 10 s between TERM and KILL. */
const ERRAND_END_MS = 20_000;
const AGENT_BLOBS = "/var/vcap/data/blobs";

const UNKNOWN = /unknown message/;
const STOP_TIMED_OUT = /Timed out waiting for service/;

/** Part of the `get_state` reply that the Director reads; the rest is passed on unchanged. */
const stateReply = open({ job_state: text("job_state"), networks });

const compiled = open({ result: open({ blobstore_id: text("blobstore_id"), sha1: text("sha1") }) });

const sshAnswer = open({
  status: v.literal("success"),
  ip: text("ip"),
  host_public_key: text("host_public_key"),
  port: v.optional(v.number()),
});

/** A package in the words of the wire. */
export const packageWire = ({ name, version, blobId, digest }: PackageBlob) => ({
  name,
  version,
  sha1: digest,
  blobstore_id: blobId,
});

/** Result of a message. `left`: the agent's task still runs, and the Director no longer waits for it. */
type AgentResult = Extract<Answer, { readonly kind: "value" | "exception" }> | { readonly kind: "left" };

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
  ): Promise<AgentResult> => {
    const started = clock.monotonic();
    const first = await question(method, args, asked);
    if (first.kind !== "task") return first;
    try {
      asked.signal?.throwIfAborted();
      for (let poll = 0; ; poll++) {
        asked.noted?.("polled");
        const answer = await question("get_task", [first.id], asked);
        if (answer.kind !== "task") return answer;
        if (clock.monotonic() - started >= withinMs) return { kind: "left" };
        await clock.sleep(POLLS_MS[poll] ?? POLL_MS, asked.signal);
      }
    } catch (error) {
      if (!asked.signal?.aborted || !CANCELLED.includes(method)) throw error;
      await cancelTask(first.id, method);
      const ended = method === "run_errand" ? await endOf(first.id) : undefined;
      if (ended === undefined) throw error;
      return ended;
    }
  };

  /** Waits a short time for a canceled task to end, and returns its result if it does. */
  const endOf = async (id: string): Promise<AgentResult | undefined> => {
    const started = clock.monotonic();
    while (clock.monotonic() - started < ERRAND_END_MS) {
      const answer = await question("get_task", [id], { timeoutMs: CANCEL_MS }).catch((error: unknown) => {
        if (error instanceof AgentSilent) return undefined;
        throw error;
      });
      if (answer?.kind !== "task") return answer;
      await clock.sleep(POLL_MS);
    }
    return undefined;
  };

  /** Advisory: the caller is leaving, whatever comes of it. */
  const cancelTask = async (id: string, method: AgentMessageName) => {
    try {
      await question("cancel_task", [id], { timeoutMs: CANCEL_MS });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      warn(`${to.name} could not be told to cancel ${method}: ${error.message}`);
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
  const ifKnown = async (
    method: AgentMessageName,
    args: readonly unknown[],
    asked: AskOptions = {},
  ): Promise<boolean> => {
    const outcome = await follow(method, args, asked);
    if (outcome.kind !== "exception") return true;
    if (!UNKNOWN.test(outcome.message)) throw refused(method, outcome.message);
    asked.noted?.("unknown");
    warn(`${to.name} does not know ${method}; going on without it`);
    return false;
  };
  const doneIfKnown = async (method: AgentMessageName, args: readonly unknown[], asked?: AskOptions) => {
    await ifKnown(method, args, asked);
  };

  const drainSeconds = async (args: readonly unknown[], asked: AskOptions): Promise<number> => {
    const seconds = await value("drain", args, asked);
    if (typeof seconds === "number" && Number.isInteger(seconds)) return seconds;
    throw invalidReply(to, "drain", "something that is not a number of seconds");
  };

  /** For at most a day: then the drain is taken to be over. */
  const waitForDrain = async (seconds: number, asked: AskOptions) => {
    if (seconds > LONGEST_DRAIN_S)
      warn(`${to.name} asks for ${seconds} s to drain; it gets ${LONGEST_DRAIN_S}`);
    await clock.sleep(Math.min(seconds, LONGEST_DRAIN_S) * 1000, asked.signal);
  };

  return {
    ping: async (asked = {}) => {
      if ((await value("ping", [], asked)) !== "pong")
        throw invalidReply(to, "ping", "something else than pong");
    },
    waitUntilReady: ({ withinMs, signal, noted, waits }) =>
      waitUntilReady({
        name: to.name,
        withinMs,
        clock,
        signal,
        waits,
        ping: (timeoutMs) => {
          noted?.("polled");
          return question("ping", [], { signal, timeoutMs });
        },
      }),
    getState: async (full, asked = {}) => stateOf(await value("get_state", stateFilters(full), asked), to),
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
    putBlob: (id, content, asked = {}) => to.putBlob(id, content, asked.timeoutMs ?? BLOB_MS, asked.signal),
    getBlob: (id, take, asked = {}) => to.getBlob(id, take, asked.timeoutMs ?? BLOB_MS, asked.signal),
    removeBlob: async (id, asked = {}) => {
      if (to.removeBlob !== undefined) return await to.removeBlob(id);
      const outcome = await follow("remove_file", [`${AGENT_BLOBS}/${id}`], asked);
      if (outcome.kind === "exception") warn(`${to.name} keeps the blob ${id}: ${outcome.message}`);
    },
    fetchLogs: async (types, filters, asked) => {
      const { blobstore_id: blobId, sha1: digest } = resultOf(
        "fetch_logs",
        await value("fetch_logs", [types, filters], asked),
        to,
      );
      return { blobId, digest };
    },
    sshSetup: async (user, publicKey, asked) => {
      const answer = await value("ssh", ["setup", { user, public_key: publicKey }], asked);
      const checked = check(sshAnswer, answer, "ssh");
      if (!checked.ok) throw invalidReply(to, "ssh", `no way in (${checked.problems.join("; ")})`);
      const { ip, host_public_key: hostPublicKey, port } = checked.value;
      return { ip, hostPublicKey, port };
    },
    sshCleanup: (userRegex, asked) => done("ssh", ["cleanup", { user_regex: userRegex }], asked),
    runErrand: async (job, asked) => {
      const answer = await value("run_errand", job === undefined ? [] : [job], asked);
      const { stdout, stderr, exit_code: exitCode } = resultOf("run_errand", answer, to);
      return { stdout, stderr, exitCode };
    },
    compilePackage: async ({ blobId, digest, name, version }, dependencies, asked) => {
      const told = Object.fromEntries(dependencies.map((one) => [one.name, packageWire(one)]));
      const answer = await value("compile_package", [blobId, digest, name, version, told], asked);
      const checked = check(compiled, answer, "compile_package");
      if (!checked.ok)
        throw invalidReply(to, "compile_package", `no compiled package (${checked.problems.join("; ")})`);
      const { blobstore_id: made, sha1 } = checked.value.result;
      return { blobId: made, digest: sha1 };
    },
    runScript: (name, env, asked) => doneIfKnown("run_script", [name, { env }], asked),
    listDisk: async (asked) => {
      const cids = await value("list_disk", [], asked);
      const checked = check(v.array(text("a disk cid")), cids, "list_disk");
      if (checked.ok) return checked.value;
      throw invalidReply(to, "list_disk", `no list of disk cids (${checked.problems.join("; ")})`);
    },
    addPersistentDisk: (cid, hint, asked) => ifKnown("add_persistent_disk", [cid, hint], asked),
    updatePersistentDisk: (cid, hint, asked) => ifKnown("update_persistent_disk", [cid, hint], asked),
    removePersistentDisk: (cid, asked) => doneIfKnown("remove_persistent_disk", [cid], asked),
    mountDisk: (cid, { hint, ...asked } = {}) =>
      done("mount_disk", hint === undefined ? [cid] : [cid, hint], asked),
    unmountDisk: (cid, asked) => done("unmount_disk", [cid], asked),
    migrateDisk: (from, to, asked) => done("migrate_disk", [from, to], asked),
    updateSettings: (settings, asked) => doneIfKnown("update_settings", [settings], asked),
    syncDns: async ({ blobId, digest, version }, asked) => {
      if ((await value("sync_dns", [blobId, digest, version], asked)) !== "synced")
        throw invalidReply(to, "sync_dns", "something else than synced");
    },
    writeStoreFile: (path, content, asked) => done("write_store_file", [{ path, content }], asked),
    readStoreFile: async (path, asked) =>
      resultOf("read_store_file", await value("read_store_file", [{ path }], asked), to).content,
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

/** The answer as the message's own schema has it. */
function resultOf<const M extends "read_store_file" | "fetch_logs" | "run_errand">(
  method: M,
  answer: unknown,
  to: AgentTransport,
): v.InferOutput<(typeof AGENT_MESSAGES)[M]["result"]> {
  const checked = check(AGENT_MESSAGES[method].result, answer, method);
  if (checked.ok) return checked.value as v.InferOutput<(typeof AGENT_MESSAGES)[M]["result"]>;
  throw invalidReply(to, method, `${RESULTS[method]} (${checked.problems.join("; ")})`);
}

const RESULTS = {
  read_store_file: "no text of a file",
  fetch_logs: "no blob of logs",
  run_errand: "no result of an errand",
};

function stateOf(value: unknown, to: AgentTransport): AgentState {
  const checked = checkWithoutNulls(stateReply, value, "get_state");
  if (!checked.ok)
    throw invalidReply(to, "get_state", `no state of an agent (${checked.problems.join("; ")})`);
  const raw = value as JsonObject;
  return { jobState: checked.value.job_state, networks: checked.value.networks, raw };
}
