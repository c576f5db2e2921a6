import { appendFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Cloud } from "@slipway/engine/clouds/cloud";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { activeVm, type VmRecord } from "@slipway/engine/model/records";
import type { AgentReport } from "@slipway/engine/plan/model";
import { newRequestId } from "@slipway/engine/steps/calls";
import type { FlowContext, JobsToRun } from "@slipway/engine/steps/context";
import { messageTrail } from "@slipway/kernel/errors";
import { acquireLock, LockTimeout } from "@slipway/kernel/lock-file";
import { boundLog } from "../bound-log.ts";
import type { Tools } from "../tools.ts";
import { agentEnvFor, busOf, madeWith, mbusIn } from "./agents/bus.ts";
import { openAgents } from "./agents/mbus-agents.ts";
import { openClouds } from "./cpi.ts";
import { StateBusy } from "./errors.ts";
import type { EnvManifest } from "./manifest/model.ts";
import { EnvRegistry } from "./registry/env-registry.ts";
import { registryHost } from "./registry/reach.ts";
import { type Stages, stagesOn } from "./stages.ts";
import type { EnvStore } from "./state/store.ts";
import type { Workspace } from "./workspace.ts";

export type EnvTools = Pick<Tools, "ui" | "clock" | "random" | "env" | "programs" | "stop" | "proxy">;

/** Input of both commands. */
export interface EnvRequest {
  /** Path as the user wrote it; `-` is standard input. */
  readonly manifestPath: string;
  /** Interpolated. */
  readonly document: unknown;
  readonly statePath: string | undefined;
  readonly skipDrain: boolean;
}

/** One command at work on one environment, while it holds the lock. */
export interface EnvSession {
  readonly workspace: Workspace;
  readonly store: EnvStore;
  readonly context: FlowContext;
  readonly cloud: Cloud;
  readonly registry: EnvRegistry;
  readonly stages: Stages;
  readonly clock: EnvTools["clock"];
  readonly signal: AbortSignal;
  /** Word for the VM in messages. */
  readonly machine: "VM" | "sandbox";
}

/** Upstream's limit: ten minutes for a VM to boot. */
const AGENT_WAIT_MS = 600_000;
const OLD_AGENT_MS = 10_000;
const VM_TRIES = 5;
const STOP_MS = 300_000;

/** Runs the work while holding the lock of the state file. Removes temporary files at the end. */
export async function withStateLock<T>(
  { lockFile, stateFile, temporary }: Workspace,
  { clock, stop }: EnvTools,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(dirname(lockFile), { recursive: true });
  const lock = await acquireLock(lockFile, { clock, waitMs: 0, waitForUnseenMs: 0, signal: stop }).catch(
    (cause: unknown) => {
      const busy = LockTimeout.paramsOf(cause);
      if (busy === undefined) throw cause;
      throw StateBusy({ path: stateFile, holder: busy.holder }, { cause });
    },
  );
  try {
    return await work();
  } finally {
    await rm(temporary, { recursive: true, force: true });
    await lock.release();
  }
}

/** Runs `work` with everything flows need, on a state file that is open. */
export async function withSession<T>(
  workspace: Workspace,
  store: EnvStore,
  manifest: Pick<EnvManifest, "name" | "cloudProvider" | "env"> & Partial<Pick<EnvManifest, "networks">>,
  tools: EnvTools,
  work: (session: EnvSession) => Promise<T>,
  jobs?: JobsToRun,
): Promise<T> {
  const { clock, random, ui, stop: signal, programs } = tools;
  const { cloudProvider: provider, env } = manifest;
  const directorUuid = store.document.director_id;
  const registry = new EnvRegistry({
    dir: workspace.registry,
    program: programs.registry,
    host: () => registryHost(provider.registry, manifest.networks ?? {}),
    clock,
    random,
  });
  // A sandbox is on this machine.
  const straight = provider.cpi.kind === "package";
  if (!straight) await tools.proxy.check(signal);
  await mkdir(workspace.dir, { recursive: true, mode: 0o700 });
  await boundLog(workspace.cpiLog);
  const log = (text: string) => appendFileSync(workspace.cpiLog, text, { mode: 0o600 });
  const agents = await openAgents({
    bus: busOf(provider, env),
    mbus: mbusIn(env),
    made: (agentId) => {
      const vm = store.instanceNow?.vms.find((one) => one.agentId === agentId);
      return vm && madeWith(vm);
    },
    keysDir: workspace.keys,
    directorUuid,
    clock,
    random,
    warn: (line) => ui.note(line),
    wire: straight ? undefined : tools.proxy.wire(),
  });
  try {
    const clouds = await openClouds({
      provider,
      directorUuid,
      local: { dir: workspace.cloud, agent: programs.agent },
      registry,
      clock,
      random,
    });
    const context: FlowContext = {
      clouds,
      agents,
      journal: store,
      clock,
      random,
      settings: {
        directorName: "bosh-init",
        directorUuid,
        agentEnvBosh: agentEnvFor(provider),
        agentWaitMs: AGENT_WAIT_MS,
        maxVmCreateTries: VM_TRIES,
        keepUnreachableVms: undefined,
        stopTimeoutMs: STOP_MS,
      },
      deployment: manifest.name,
      signal,
      warn: (message) => ui.note(message),
      debug: (line) => log(`${line}\n`),
      cpiLog: log,
      audit: () => Promise.resolve(),
      jobs,
    };
    const stages = stagesOn(ui, clock);
    const machine = provider.cpi.kind === "package" ? "sandbox" : "VM";
    return await work({
      machine,
      workspace,
      store,
      context,
      cloud: clouds.cloud(""),
      registry,
      stages,
      clock,
      signal,
    });
  } finally {
    agents.close();
  }
}

/** Makes an empty temporary directory. Removes files that a killed command left there. */
export async function prepareTemporary({ dir, temporary }: Workspace): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await rm(temporary, { recursive: true, force: true });
  await mkdir(temporary, { mode: 0o700 });
}

/** Settles steps that a killed or interrupted command began. */
export async function settle({ store, context, stages }: EnvSession): Promise<void> {
  const open = store.document.slipway.intents.filter(({ instance }) => instance !== null);
  if (open.length === 0) return;
  const names = open.map(({ step }) => step).join(", ");
  await stages.step(`Finding out what became of ${names}, begun by an earlier run`, () =>
    settleOpenIntents(context),
  );
}

/** Reports whether the agent of the existing VM can be asked to stop its work. */
export async function askOldAgent(session: EnvSession, stages: Stages): Promise<AgentReport | undefined> {
  const { store, context } = session;
  const instance = store.instanceNow;
  const vm = instance && activeVm(instance);
  if (vm === undefined) return undefined;
  if (!(await isThere(session, vm))) return { responsive: false, why: "its VM is gone" };
  const waiting = stages.begin(`Waiting for the agent on ${session.machine} '${vm.cid}'`);
  try {
    const agent = context.agents.agent(vm);
    await agent.waitUntilReady({ withinMs: OLD_AGENT_MS, signal: context.signal });
    waiting.finished();
    return { responsive: true, jobState: "running", networks: vm.networks };
  } catch (error) {
    waiting.failed();
    context.signal.throwIfAborted();
    const why = messageTrail(error);
    context.debug(`the agent on ${vm.cid} is not asked: ${why}`);
    return { responsive: false, why };
  }
}

/** A CPI that does not say is taken to have it. */
async function isThere({ cloud, context }: EnvSession, vm: VmRecord): Promise<boolean> {
  try {
    return await cloud.hasVm(vm.cid, {
      requestId: newRequestId(context),
      stemcellApiVersion: vm.stemcell.apiVersion,
      signal: context.signal,
      log: context.cpiLog,
    });
  } catch (error) {
    context.signal.throwIfAborted();
    context.debug(`has_vm of ${vm.cid}: ${messageTrail(error)}`);
    return true;
  }
}
