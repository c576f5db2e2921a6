import type { Agent } from "@slipway/engine/agents/agent";
import type { CompileStemcell } from "@slipway/engine/compile/needed";
import { type Compilation, compilationOf, workerDocuments } from "@slipway/engine/compile/worker-documents";
import { KnownInstances, runInstance } from "@slipway/engine/flows/run-instance";
import { runSteps } from "@slipway/engine/flows/run-steps";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { type DesiredInstance, newInstance } from "@slipway/engine/model/goal";
import type { GroupName, InstanceUuid } from "@slipway/engine/model/names";
import { activeVm, type InstanceRecord } from "@slipway/engine/model/records";
import { planDeletion } from "@slipway/engine/plan/deletion";
import type { InstancePlan, PlanInput } from "@slipway/engine/plan/model";
import { planOrThrow } from "@slipway/engine/plan/plan";
import type { FlowContext } from "@slipway/engine/steps/context";
import { withDeadline } from "@slipway/kernel/deadline";
import { IpTaken } from "../../store/errors.ts";
import { createInstances } from "../../store/instances.ts";
import { takenIps } from "../../store/ips.ts";
import { TaskCancelled, type TaskContext } from "../../tasks/task.ts";
import type { OperationContext } from "../operation.ts";

interface Worker {
  readonly uuid: InstanceUuid;
  readonly stemcell: string;
  readonly plan: InstancePlan;
}

/** Longest time that cleaning up goes on after a cancel. */
const CLEARING_MS = 600_000;
/** Tries for an address: another deployment may take it meanwhile. */
const MOST_TRIES = 5;

/**
 * VMs that compile packages. They are instances of the deployment: what a killed Director leaves of them is deleted by the
 * next deploy, and nothing is made that is not written down first.
 */
export class Workers {
  readonly #input: PlanInput;
  readonly #compilation: Compilation;
  readonly #task: TaskContext;
  readonly #tools: OperationContext;
  readonly #context: FlowContext;
  readonly #known: KnownInstances;
  readonly #all = new Set<Worker>();
  readonly #idle: Worker[] = [];

  constructor(input: PlanInput, task: TaskContext, tools: OperationContext, context: FlowContext) {
    this.#input = input;
    this.#compilation = compilationOf(input.cloudConfig);
    this.#task = task;
    this.#tools = tools;
    this.#context = context;
    this.#known = new KnownInstances(context.journal);
  }

  get most(): number {
    return this.#compilation.workers;
  }

  /** Runs work with workers, which are all deleted when it ends, unless the task goes on elsewhere, which then deletes them. */
  async during(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      await this.#removeAll();
    } catch (error) {
      if (!this.#goesOnElsewhere()) await this.#removeAll().catch((why: unknown) => this.#note(why));
      throw error;
    }
  }

  /** Compiles one package on one VM with this stemcell, alone. */
  async use<T>(
    stemcell: CompileStemcell,
    packageName: string,
    work: (agent: Agent) => Promise<T>,
  ): Promise<T> {
    const worker = this.#take(stemcell) ?? (await this.#make(stemcell));
    const instance = await this.#known.get(worker.uuid);
    const vm = instance && activeVm(instance);
    if (vm === undefined) throw new Error("bug: a VM that compiles is not there");
    await this.#tag(worker, packageName);
    const result = await work(this.#context.agents.agent(vm));
    if (this.#compilation.reuse) this.#idle.push(worker);
    else await this.#remove(worker, this.#context, this.#known);
    return result;
  }

  /** Tags the VM with the package it compiles, as upstream, for operators who look at the cloud. */
  async #tag({ uuid, plan }: Worker, compiling: string): Promise<void> {
    const { desired } = plan;
    const goal = { ...plan, desired: desired && { ...desired, tags: { ...desired.tags, compiling } } };
    await runSteps(["set_vm_metadata"], { uuid, goal, watchMs: null }, this.#context);
  }

  #take({ os, version }: CompileStemcell): Worker | undefined {
    const at = this.#idle.findIndex(({ stemcell }) => stemcell === `${os}/${version}`);
    return at === -1 ? undefined : this.#idle.splice(at, 1)[0];
  }

  async #make({ alias, os, version }: CompileStemcell): Promise<Worker> {
    for (let tries = 1; ; tries++) {
      const { plan, desired } = await this.#plan(alias);
      try {
        await this.#task.write((db) =>
          createInstances(db, this.#context.deployment, this.#task.id, [{ ...desired, compilation: true }]),
        );
      } catch (error) {
        if (!IpTaken.is(error) || tries === MOST_TRIES) throw error;
        continue;
      }
      const worker = { uuid: desired.uuid, stemcell: `${os}/${version}`, plan };
      this.#all.add(worker);
      this.#known.set(desired.uuid, { ...newInstance(desired), compilation: true });
      await runInstance({ uuid: desired.uuid, plan, watchMs: null }, this.#context, this.#known);
      return worker;
    }
  }

  async #plan(alias: string): Promise<{ readonly plan: InstancePlan; readonly desired: DesiredInstance }> {
    const group = `compilation-${this.#tools.random.uuid()}` as GroupName;
    const { manifest, cloudConfig } = this.#input;
    const { db, ownIps } = this.#tools;
    const made = planOrThrow({
      ...this.#input,
      ...workerDocuments(manifest, cloudConfig, group, alias),
      instances: [],
      agents: new Map(),
      takenIps: await takenIps(db, "", ownIps),
      options: NO_OPTIONS,
    });
    const [early] = made.missingVms;
    const [desired] = made.desired;
    if (early === undefined || desired === undefined) throw new Error("bug: no VM to compile on was planned");
    return { plan: early, desired };
  }

  async #remove(worker: Worker, context: FlowContext, known: KnownInstances): Promise<void> {
    const recorded = await known.get(worker.uuid);
    if (recorded !== undefined) await removeWorker(recorded, this.#compilation.orphan, context, known);
    this.#all.delete(worker);
  }

  async #removeAll(): Promise<void> {
    if (!this.#context.signal.aborted) return await this.#removeEach(this.#context);
    const { clock } = this.#tools;
    await withDeadline("deleting VMs that compiled", CLEARING_MS, clock, undefined, (signal) =>
      this.#removeEach({ ...this.#context, signal }),
    );
  }

  /** Deletes all workers. Calls that were cut off are settled first: they may have made a VM. */
  async #removeEach(context: FlowContext): Promise<void> {
    await settleOpenIntents(context);
    const known = new KnownInstances(context.journal);
    const gone = await Promise.allSettled(
      [...this.#all].map((worker) => this.#remove(worker, context, known)),
    );
    const failed = gone.find((one) => one.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  #goesOnElsewhere(): boolean {
    const { signal } = this.#task;
    return signal.aborted && !(signal.reason instanceof TaskCancelled);
  }

  #note(error: unknown): void {
    this.#context.debug(`a VM that compiled could not be deleted, the next deploy does it: ${String(error)}`);
  }
}

/** Ends those that a run before has left. */
export async function clearWorkers(
  instances: readonly InstanceRecord[],
  context: FlowContext,
): Promise<void> {
  const known = new KnownInstances(context.journal);
  for (const one of instances) if (one.compilation === true) await removeWorker(one, false, context, known);
}

/** Deletes a VM that compiled. It has no jobs, and its agent is not waited for. */
async function removeWorker(
  recorded: InstanceRecord,
  orphanVm: boolean,
  context: FlowContext,
  known: KnownInstances,
): Promise<void> {
  const plan = planDeletion(recorded, {
    agent: { responsive: true, jobState: "stopped", networks: {} },
    orphanVm,
    skipDrain: true,
    why: "its packages are compiled",
  });
  await runInstance({ uuid: recorded.uuid, plan, watchMs: null }, context, known);
}

const NO_OPTIONS: PlanInput["options"] = {
  recreate: false,
  recreateDisksCreatedBefore: undefined,
  recreateVmsCreatedBefore: undefined,
  fix: false,
  canaries: undefined,
  maxInFlight: undefined,
  skipDrain: [],
  state: undefined,
};
