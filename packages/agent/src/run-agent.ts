import { mkdir } from "node:fs/promises";
import type { Clock } from "@slipway/kernel/clock";
import { type Exec, mustRun } from "@slipway/kernel/exec";
import type { Random } from "@slipway/kernel/random";
import type { AgentConfig } from "@slipway/protocol/agent/agent-config";
import type { ActionTable } from "./actions/action.ts";
import { linkDisks } from "./actions/associate_disks.ts";
import { actionsOf } from "./actions/generation.ts";
import { localBlobs } from "./blobs/local-blobs.ts";
import { ActiveTransport, type ListenAddress } from "./bootstrap/active-transport.ts";
import { bootstrapSteps } from "./bootstrap/bootstrap.ts";
import { beat } from "./bootstrap/heartbeat.ts";
import { StartupGate } from "./bootstrap/startup-gate.ts";
import { StartupProblem } from "./bootstrap/startup-problem.ts";
import { StartupProgress } from "./bootstrap/startup-progress.ts";
import { runSteps } from "./bootstrap/steps.ts";
import { makeDispatcher } from "./dispatch/dispatch.ts";
import { TaskQueue } from "./dispatch/tasks.ts";
import { restoreJobs } from "./jobs/switch.ts";
import type { Log } from "./log.ts";
import { rotateLogs } from "./logs/rotate.ts";
import type { Paths } from "./paths.ts";
import type { Platform } from "./platform/platform.ts";
import { leftoverTools } from "./scripts/job-script.ts";
import { tellLeftovers } from "./scripts/leftovers.ts";
import type { AgentServices, ManagedDiskStore } from "./services.ts";
import { actsAs, blobstoreSettings, mbusClientCa, mbusCredentials, mbusUrls } from "./settings/effective.ts";
import { SettingsFinder } from "./settings/find.ts";
import { makeSource } from "./settings/sources/make.ts";
import { SettingsStore } from "./settings/store.ts";
import { fileAgentState } from "./state/agent-state.ts";
import { fileManagedDisk } from "./state/managed-disk.ts";
import { fileSpecStore } from "./state/spec-store.ts";
import { makeSupervisor, type SupervisorChoice } from "./supervisor/choose.ts";
import { reportingHealth } from "./supervisor/health.ts";
import type { RequestHandler, Transport } from "./transports/transport.ts";

export interface AgentParts {
  readonly config: AgentConfig;
  readonly paths: Paths;
  readonly platform: Platform;
  readonly actions: ActionTable;
  /** Supervisor of the jobs. The default is the built-in one. */
  readonly supervisor?: SupervisorChoice;
  readonly makeTransport: (address: ListenAddress) => Promise<Transport>;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Aborted when the program is asked to end. */
  readonly stop: AbortSignal;
}

export type AgentEnding = { readonly kind: "stopped" } | { readonly kind: "restart"; readonly why: string };

/** Time for the last reply to leave; upstream's. */
const GRACE_MS = 1000;
/**
 * How long an answer that would say "running" waits for the end of the task. Longer than most tasks take, and nothing to
 * a Director, which sleeps a whole second after such an answer.
 */
const HOLD_MS = 200;

/** The whole life of an agent: start, serve, end. Rejects when it cannot start or can no longer be reached. */
export async function runAgent(parts: AgentParts): Promise<AgentEnding> {
  const { clock, random, log, paths, platform } = parts;
  const ending = new AbortController();
  const ended = new Promise<unknown>((resolve) => {
    ending.signal.addEventListener("abort", () => resolve(ending.signal.reason), { once: true });
  });
  const onStop = () => ending.abort(new Ended({ kind: "stopped" }));
  parts.stop.addEventListener("abort", onStop, { once: true });
  if (parts.stop.aborted) onStop();

  const waiting = new StartupProgress(clock);
  const attention = new StartupProblem();
  const finder = makeFinder(parts, waiting);
  const settings = makeStore(parts, finder);
  const gate = new StartupGate({ waiting, attention, clock, origin: () => settings.origin() });
  const transport = new ActiveTransport({
    makeTransport: parts.makeTransport,
    handler: gate.handler,
    log,
    clock,
    onFailure: (error) => ending.abort(error),
  });
  const publish: AgentServices["publish"] = (topic, payload) => transport.publish(topic, payload);
  const supervisor = await makeSupervisor(parts.supervisor ?? { kind: "builtin" }, {
    ...parts,
    publish,
    ips: () => ipsOf(settings),
    problem: () => attention.problem(),
  });
  const services: AgentServices = {
    paths,
    platform,
    settings,
    spec: fileSpecStore(paths.spec, parts),
    managedDisk: watched(fileManagedDisk(paths.managedDisk, parts), attention),
    migratedDisk: fileManagedDisk(paths.migratedDisk, parts),
    blobs: localBlobs({
      ...parts,
      settings: () => blobstoreSettings(settings.current(), settings.updates()),
    }),
    supervisor: reportingHealth(supervisor, parts),
    publish,
    reconnect: () => transport.rotate(addressOf(settings)),
    restart: (why) => {
      log.info(`restarting: ${why}`);
      clock.after(GRACE_MS, () => ending.abort(new Ended({ kind: "restart", why })));
    },
    exec: parts.exec,
    clock,
    random,
    log,
  };
  let tasks: TaskQueue | undefined;
  let dispatcher: RequestHandler | undefined;
  /** One for all messages: it knows which came before. */
  const answering = async (): Promise<RequestHandler> => {
    tasks ??= await TaskQueue.open({ path: paths.tasks, random, log });
    dispatcher ??= makeDispatcher({
      actions: actionsOf(parts.actions, actsAs(settings.current())),
      services,
      tasks,
      ending: ending.signal,
      holdMs: HOLD_MS,
    });
    return dispatcher;
  };
  const steps = bootstrapSteps({
    ...services,
    settings,
    finder,
    waiting,
    attention,
    agentState: fileAgentState(paths.agentState, parts),
    linux: parts.config.Platform?.Linux ?? {},
    openForDisks: async () => gate.openForDisks(await answering()),
    openTransport: () => transport.open(addressOf(settings)),
    restoreJobs: async () => {
      await restoreJobs(services);
      await tellLeftovers(leftoverTools(services));
    },
    linkDisks: (signal) => linkDisks(settings.updates().disk_associations ?? [], services, signal),
  });

  let beating: Promise<unknown> | undefined;
  try {
    await runSteps(steps, { waiting, clock, random, log }, ending.signal);
    await supervisor.open(ending.signal);
    gate.open(await answering());
    log.info(`ready: ${settings.origin()}`);
    beating = Promise.all([beat(services, ending.signal), rotateLogs(services, ending.signal)]);
    throw await ended;
  } catch (error) {
    if (error instanceof Ended) return error.ending;
    throw error;
  } finally {
    onStop();
    parts.stop.removeEventListener("abort", onStop);
    tasks?.close();
    await transport.close();
    await beating;
    // Jobs go on: the next process of the agent finds them.
    await supervisor.close();
  }
}

/** The reason with which everything under way is cut short. */
class Ended extends Error {
  readonly ending: AgentEnding;
  constructor(ending: AgentEnding) {
    super("the agent is ending");
    this.ending = ending;
  }
}

function addressOf(settings: SettingsStore): ListenAddress {
  const [now, pushed] = [settings.current(), settings.updates()];
  return {
    urls: mbusUrls(now, pushed),
    credentials: mbusCredentials(now, pushed),
    clientCa: mbusClientCa(now, pushed),
    agentId: now.agent_id,
  };
}

/** The addresses the VM was given. */
const ipsOf = (settings: SettingsStore): readonly string[] =>
  Object.values(settings.current().networks ?? {}).flatMap(({ ip }) =>
    typeof ip === "string" && ip !== "" ? [ip] : [],
  );

function makeFinder(parts: AgentParts, waiting: StartupProgress): SettingsFinder {
  const { Sources, UseRegistry, UseServerName } = parts.config.Infrastructure.Settings;
  const tools = { ...parts, ensureNetwork: networkOnce(parts) };
  let said: string | undefined;
  return new SettingsFinder(
    {
      sources: Sources.map((entry) => makeSource(entry, tools)),
      useRegistry: UseRegistry,
      useServerName: UseServerName ?? false,
      onWait: (round, cause) => {
        waiting.on(`settings (${round}): ${cause}`);
        // Once per cause: a machine may wait for its network for minutes.
        if (cause !== said) parts.log.warn(`no settings yet: ${cause}; asking again`);
        said = cause;
      },
    },
    parts,
  );
}

/** Upstream's: a VM whose settings come over the network, and that has none yet, gets one by DHCP. */
function networkOnce({ platform, log }: AgentParts): (signal: AbortSignal) => Promise<void> {
  let done = false;
  return async (signal) => {
    if (done) return;
    done = true;
    if ((await platform.networks.live().catch(() => undefined)) !== undefined) return;
    await platform.networks.configure({ eth0: { type: "dynamic" } }, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      log.warn(`no network could be set up by DHCP: ${error instanceof Error ? error.message : "unknown"}`);
    });
  };
}

function makeStore(parts: AgentParts, finder: SettingsFinder): SettingsStore {
  const { paths, platform, exec } = parts;
  const mountTmpfs = async (directory: string) => {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    if ((await platform.disks.mounts()).some((mount) => mount.target === directory)) return;
    const options = "size=16m,mode=0700,nosuid,nodev,noexec";
    const args = ["-t", "tmpfs", "-o", options, "tmpfs", directory];
    await mustRun(exec, "keeping the settings off the disk", "mount", args);
  };
  return new SettingsStore({ paths, finder, tools: parts, mountTmpfs });
}

/** Clears the problem of a disk once another disk is mounted, or none is expected any more. */
const watched = (store: ManagedDiskStore, attention: StartupProblem): ManagedDiskStore => ({
  load: () => store.load(),
  save: async (cid) => {
    await store.save(cid);
    attention.clear();
  },
  clear: async () => {
    await store.clear();
    attention.clear();
  },
});
