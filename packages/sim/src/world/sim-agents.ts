import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import {
  type Agent,
  AgentRefused,
  AgentSilent,
  type AgentState,
  type Agents,
  AgentUnaware,
  type AskOptions,
} from "@slipway/engine/agents/agent";
import { packageWire } from "@slipway/engine/agents/agent-client";
import type { Clock } from "@slipway/kernel/clock";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Networks } from "@slipway/protocol/settings/networks";
import * as v from "valibot";
import type { SimTrust } from "./bus.ts";
import type { SimAnswer } from "./sim-agent.ts";
import { sha256 } from "./sim-jobs.ts";

/** Sends a message to the world: directly, or from another process. */
export type AskSim = (agentId: string, method: string, args: readonly unknown[]) => Promise<SimAnswer>;

const YEAR_MS = 365 * 24 * 3_600_000;

/** Agents of the world behind the Director's client for agents. `trust`: whom they are to believe on the bus, if on it. */
export function simAgents(ask: AskSim, clock: Clock, trust?: () => SimTrust): Agents {
  const certificate = () => {
    const until = clock.now() + YEAR_MS;
    const now = trust?.();
    const settings = { mbus: { cert: { until, ...(now !== undefined && { trust: { ...now } }) } } };
    return { settings, given: { certificateUntil: until, natsTrust: now && JSON.stringify(now) } };
  };
  // By agent, what it was last sent whole: the world gets it with the message that is about it.
  const sent = new Map<string, Uint8Array>();
  return {
    transport: trust === undefined ? "https" : "nats",
    agent: ({ agentId }) => simAgent(agentId, ask, sent),
    introduce: () => {
      const { given, settings } = certificate();
      return Promise.resolve({ envBosh: settings as JsonObject, ...given });
    },
    renewal: () => {
      const { given, settings } = certificate();
      return Promise.resolve({ settings, ...given });
    },
    ready: () => Promise.resolve(),
    signerEnds: () => Number.POSITIVE_INFINITY,
    urlFor: () => (trust === undefined ? "sim://agent" : "nats://sim"),
  };
}

function simAgent(agentId: string, ask: AskSim, sent: Map<string, Uint8Array>): Agent {
  const say = async (method: string, ...args: readonly unknown[]): Promise<unknown> => {
    const answer = await ask(agentId, method, args);
    if ("silent" in answer)
      throw new AgentSilent(`agent ${agentId} does not answer ${method}: ${answer.silent}`);
    if ("exception" in answer) {
      const Refused = answer.exception.startsWith("unknown message") ? AgentUnaware : AgentRefused;
      throw new Refused(`agent ${agentId}, ${method}: ${answer.exception}`);
    }
    return answer.value;
  };
  const ifKnown = async (method: string, ...args: readonly unknown[]): Promise<boolean> => {
    try {
      await say(method, ...args);
      return true;
    } catch (error) {
      if (error instanceof AgentUnaware) return false;
      throw error;
    }
  };
  const told = async (method: string, ...args: readonly unknown[]): Promise<void> => {
    await say(method, ...args);
  };
  // A long call is abandoned once its caller stops waiting.
  const toldUntil = async (asked: AskOptions | undefined, method: string, ...args: readonly unknown[]) => {
    await unlessAborted(asked?.signal, say(method, ...args));
  };
  return {
    ping: () => told("ping"),
    waitUntilReady: () => told("ping"),
    getState: async () => stateOf(await say("get_state"), agentId),
    apply: (spec, asked) => toldUntil(asked, "apply", spec),
    prepare: (spec) => told("prepare", spec),
    start: (asked) => toldUntil(asked, "start"),
    stop: (asked) => toldUntil(asked, "stop"),
    drain: (type, spec, asked) => toldUntil(asked, "drain", type, spec),
    putBlob: async (id, content) => {
      if (content instanceof Uint8Array) sent.set(agentId, content);
      const bytes = content instanceof Uint8Array ? content : await buffer(content.content);
      await say("put_blob", id, sha256(bytes));
    },
    getBlob: async (id, take) => {
      const content = Buffer.from(String(await say("get_blob", id)), "base64");
      return await take(Readable.from([content]));
    },
    removeBlob: () => Promise.resolve(),
    fetchLogs: async (types, filters) => {
      const made = (await say("fetch_logs", types, filters)) as { blobstore_id: string; sha1: string };
      return { blobId: made.blobstore_id, digest: made.sha1 };
    },
    sshSetup: async (user, publicKey) => {
      const made = (await say("ssh", "setup", { user, public_key: publicKey })) as {
        ip: string;
        host_public_key: string;
      };
      return { ip: made.ip, hostPublicKey: made.host_public_key };
    },
    sshCleanup: (regex) => told("ssh", "cleanup", { user_regex: regex }),
    runErrand: async (job) => {
      const ran = (await say("run_errand", job ?? null)) as {
        stdout: string;
        stderr: string;
        exit_code: number;
      };
      return { stdout: ran.stdout, stderr: ran.stderr, exitCode: ran.exit_code };
    },
    compilePackage: async ({ blobId, digest, name, version }, dependencies) => {
      const told = Object.fromEntries(dependencies.map((one) => [one.name, packageWire(one)]));
      const answer = await say("compile_package", blobId, digest, name, version, told);
      const { result } = answer as { readonly result: { blobstore_id: string; sha1: string } };
      return { blobId: result.blobstore_id, digest: result.sha1 };
    },
    runScript: (name, env, asked) => toldUntil(asked, "run_script", name, env),
    listDisk: async () => (await say("list_disk")) as readonly string[],
    addPersistentDisk: (cid, hint) => ifKnown("add_persistent_disk", cid, hint),
    updatePersistentDisk: (cid, hint) => ifKnown("update_persistent_disk", cid, hint),
    removePersistentDisk: async (cid) => {
      await ifKnown("remove_persistent_disk", cid);
    },
    mountDisk: (cid, asked) => told("mount_disk", cid, ...(asked?.hint === undefined ? [] : [asked.hint])),
    unmountDisk: (cid) => told("unmount_disk", cid),
    migrateDisk: (from, to) => told("migrate_disk", from, to),
    updateSettings: (settings) => told("update_settings", settings),
    syncDns: ({ blobId, digest, version }) =>
      told("sync_dns", blobId, digest, version, Buffer.from(sent.get(agentId) ?? "").toString("base64")),
    writeStoreFile: (path, content) => told("write_store_file", { path, content }),
    readStoreFile: async (path) => ((await say("read_store_file", { path })) as { content: string }).content,
    // As the real client: it may be off before it has answered.
    shutdown: () => told("shutdown").catch(unlessSilent),
  };
}

async function unlessAborted<T>(asked: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (asked === undefined) return await work;
  // Of its own: many wait with the caller's at once.
  const signal = AbortSignal.any([asked]);
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
    work.catch(() => undefined);
  }
}

function unlessSilent(error: unknown): void {
  if (!(error instanceof AgentSilent)) throw error;
}

const state = v.looseObject({ job_state: v.string(), networks: v.record(v.string(), v.looseObject({})) });

/** Reads a state as the real client does: an invalid state counts as no answer. */
function stateOf(raw: unknown, agentId: string): AgentState {
  const checked = v.safeParse(state, raw);
  if (!checked.success)
    throw new AgentSilent(
      `agent ${agentId} answers get_state with no state of an agent: ${v.summarize(checked.issues)}`,
    );
  const { job_state: jobState, networks } = checked.output;
  return { jobState, networks: networks as unknown as Networks, raw: checked.output as JsonObject };
}
