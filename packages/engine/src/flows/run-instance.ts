import { messageTrail } from "@slipway/kernel/errors";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Journal } from "../journal/journal.ts";
import { type InstanceUuid, slug } from "../model/names.ts";
import { activeDisk, type InstanceRecord } from "../model/records.ts";
import type { InstancePlan, PlannedStep } from "../plan/model.ts";
import type { FlowContext } from "../steps/context.ts";
import { diskFits, newVm } from "../steps/select.ts";
import { isOfAgent, StepFailed } from "./errors.ts";
import { flushed, type InstanceRun, InstanceWriteBuffer, takeStep } from "./run-steps.ts";

/** Cache of the instances of a deploy, so that they are not read again after a write. */
export class KnownInstances {
  readonly #journal: Pick<Journal, "instance">;
  readonly #known = new Map<InstanceUuid, InstanceRecord>();

  constructor(journal: Pick<Journal, "instance">, instances: Iterable<InstanceRecord> = []) {
    this.#journal = journal;
    for (const instance of instances) this.#known.set(instance.uuid, instance);
  }

  async get(uuid: InstanceUuid): Promise<InstanceRecord | undefined> {
    return this.#known.get(uuid) ?? (await this.#journal.instance(uuid));
  }

  set(uuid: InstanceUuid, instance: InstanceRecord | undefined): void {
    if (instance === undefined) this.#known.delete(uuid);
    else this.#known.set(uuid, instance);
  }
}

interface PlannedRun extends Omit<InstanceRun, "goal"> {
  readonly plan: InstancePlan;
}

/** Brings one instance to its plan, by the steps the plan names and no others. */
export async function runInstance(
  planned: PlannedRun,
  context: FlowContext,
  known = new KnownInstances(context.journal),
): Promise<void> {
  const { uuid, plan } = planned;
  const first = plan.steps.find(({ condition }) => condition === undefined);
  const instance = await known.get(uuid);
  if (first === undefined || instance === undefined) return;
  const buffer = new InstanceWriteBuffer(context.journal, instance);
  const run: InstanceRun = { ...planned, goal: plan };
  const name = slug(instance);
  const { action, context: about } = auditEventFor(plan);
  const told = { action, objectType: "instance", objectName: name, instance: name };
  const event = { ...told, deployment: context.deployment };
  const done = (error?: string) =>
    buffer.event({ ...event, ends: true, ...(error !== undefined && { error }) });
  try {
    await flushed(buffer, async () => {
      buffer.event({ ...event, context: about });
      try {
        if (instance.updateCompleted)
          buffer.write((writes) => writes.updateInstance({ updateCompleted: false }));
        await takeAll(plan, run, buffer, context);
      } catch (error) {
        await removeUnusable(error, plan, run, buffer, context);
        done(messageTrail(error));
        throw error;
      }
      done();
    });
  } finally {
    known.set(uuid, buffer.instance);
  }
}

async function takeAll(
  plan: InstancePlan,
  run: InstanceRun,
  buffer: InstanceWriteBuffer,
  context: FlowContext,
): Promise<void> {
  // Checked before the instance is touched: a VM whose agent cannot be reached must not replace one that may run.
  if (plan.steps.some(({ name, condition }) => name === "create_vm" && condition === undefined))
    await context.agents.ready();
  let copies: boolean | undefined;
  const wanted = ({ condition }: PlannedStep): boolean => {
    // Which of them are to be replaced is looked at for each.
    if (condition === undefined || condition === "cpi_cannot_change_named_disk") return true;
    if (condition !== "cpi_cannot_change_disk") return false;
    // Decided once: what follows makes the disk fit.
    copies ??= !diskWasChanged(buffer.instance, plan);
    return copies;
  };
  for (const step of plan.steps) if (wanted(step)) await takeStep(step.name, run, buffer, context);
}

/** A disk the CPI was to change is looked at again once it is back. */
function diskWasChanged(instance: InstanceRecord | undefined, { desired }: InstancePlan): boolean {
  const disk = instance && activeDisk(instance);
  return disk === undefined || diskFits(disk, desired?.persistentDisk);
}

/**
 * A new VM whose agent cannot be used, or that the cloud does not let be named, is deleted, unless the operator wants to
 * look at it.
 */
async function removeUnusable(
  error: unknown,
  { steps }: InstancePlan,
  run: InstanceRun,
  buffer: InstanceWriteBuffer,
  context: FlowContext,
): Promise<void> {
  const unusable = isOfAgent(error) || (error instanceof StepFailed && error.step === "set_vm_metadata");
  if (!unusable || context.settings.keepUnreachableVms || context.signal.aborted) return;
  const vm = buffer.instance && newVm(buffer.instance);
  if (vm === undefined || vm.ready) return;
  const gone: InstanceRun = { ...run, goal: { ...run.goal, desired: undefined } };
  try {
    for (const { name, condition } of steps)
      if (condition === "new_agent_unusable") await takeStep(name, gone, buffer, context);
  } catch (problem) {
    // The error that the operator gets says why the VM is unusable; the next deploy deletes it.
    context.debug(`VM ${vm.cid} could not be deleted: ${messageTrail(problem)}`);
  }
}

type Work = Pick<InstancePlan, "action" | "changes" | "desired" | "recorded">;

/** Returns the action and context for `bosh events` of the work on an instance, in upstream's words, which scripts look for. */
function auditEventFor({ action, changes, desired, recorded }: Work): {
  readonly action: string;
  readonly context: JsonObject;
} {
  const kinds = [...new Set(changes.map(({ kind }) => kind))];
  const only = kinds.length === 1 ? kinds[0] : undefined;
  if (action === "stop" || action === "detach") return { action: "stop", context: {} };
  if (action !== "delete" && only === "restart") return { action: "restart", context: {} };
  if (action !== "delete" && only === "state" && desired?.state === "started")
    return { action: "start", context: {} };
  const said = only === "missing_vm" || only === "recreate" || action === "delete" ? [] : kinds;
  // Where VMs are swapped, the new one is made while the old one is there.
  const swaps = action === "create" && recorded?.vms.some(({ active }) => active) === true;
  return {
    action: swaps ? "recreate" : action === "metadata" ? "update" : action,
    context: {
      ...(typeof desired?.az === "string" && { az: desired.az }),
      ...(said.length > 0 && { changes: said }),
    },
  };
}
