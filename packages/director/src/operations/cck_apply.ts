import { settleOpenIntents } from "@slipway/engine/flows/settle";
import {
  describeProblem,
  OFFERS,
  type ProblemRecord,
  planOf,
  type ResolutionName,
} from "@slipway/engine/model/problems";
import { aboutInstance, type FlowContext } from "@slipway/engine/steps/context";
import { applyParams } from "@slipway/protocol/director/task-params";
import { listProblems, resolveProblem } from "../store/problems.ts";
import type { Db } from "../store/schema.ts";
import type { TaskContext } from "../tasks/task.ts";
import { BadResolution } from "./errors.ts";
import { askedAt, DEPLOYMENT_LOCK_MS, deploymentLock, flowContext, operation } from "./operation.ts";
import { adoptDisk, adoptVm } from "./problems/adopt.ts";
import {
  activateDisk,
  deleteDisk,
  deleteDiskReference,
  reattachDisk,
  reattachDiskAndReboot,
} from "./problems/disk-resolutions.ts";
import { Failures } from "./problems/failures.ts";
import { recreate } from "./problems/recreate.ts";
import type { Resolution, SingleResolution } from "./problems/scene.ts";
import { deleteVm, deleteVmReference, rebootVm } from "./problems/vm-resolutions.ts";

const SINGLE: Readonly<Record<SingleResolution, Resolution>> = {
  reboot_vm: rebootVm,
  delete_vm: deleteVm,
  delete_vm_reference: deleteVmReference,
  delete_disk_reference: deleteDiskReference,
  delete_disk: deleteDisk,
  activate_disk: activateDisk,
  reattach_disk: reattachDisk,
  reattach_disk_and_reboot: reattachDiskAndReboot,
  adopt_vm: adoptVm,
  adopt_disk: adoptDisk,
};

interface Choice {
  readonly problem: ProblemRecord;
  readonly name: ResolutionName;
}

/**
 * `bosh cloud-check`, second half: does what was chosen. What fails does not keep the others from being done. Problems
 * are marked as they are resolved: after a crash only those that are left are looked at again.
 */
export const cckApply = operation(applyParams, (params, task, tools) =>
  task.withLock(deploymentLock(params.deployment), DEPLOYMENT_LOCK_MS, async () => {
    const context = flowContext(tools, task, params.deployment);
    await settleOpenIntents(context);
    const choices = chosen(await listProblems(tools.db, params.deployment), params.resolutions);
    const failures = new Failures(context);
    const stage = task.stage("Applying problem resolutions", [], choices.length);
    const carry = async (
      { problem, name }: Choice,
      work: (progress: (status: string) => void) => Promise<void>,
    ) => {
      const { id, type } = problem;
      const resolve = async () => {
        await stage.step(`${describeProblem(problem)} (${type} ${id}): ${planOf(type, name)}`, work);
        await task.write((db) => resolveProblem(db, id));
      };
      await failures.noting(resolve, (advice) => `Error resolving problem '${id}': ${advice}`);
    };

    for (const choice of choices) {
      const { name, problem } = choice;
      if (name === "ignore") await carry(choice, () => Promise.resolve());
      else if (name !== "recreate_vm" && name !== "recreate_vm_without_wait")
        await carry(choice, () => resolveOne(SINGLE[name], problem, task, context, tools.db));
    }
    const recreated = choices
      .filter(({ name }) => name === "recreate_vm" || name === "recreate_vm_without_wait")
      .map((choice) => ({ ...choice, wait: choice.name === "recreate_vm" }));
    const overrides = params.max_in_flight_overrides ?? {};
    if (recreated.length > 0)
      await failures.noting(async () =>
        recreate(recreated, await askedAt(task, tools), overrides, carry, task, tools, context),
      );
    await context.names?.publish();
    failures.throwIfAny();
    return `${choices.length} resolved`;
  }),
);

async function resolveOne(
  resolution: Resolution,
  problem: ProblemRecord,
  task: TaskContext,
  context: FlowContext,
  db: Db,
): Promise<void> {
  const instance = await context.journal.instance(problem.instance);
  // Its instance is gone, and with it the problem.
  if (instance === undefined) return;
  await resolution({
    problem,
    instance,
    context: aboutInstance(context, instance),
    task,
    db,
    warn: (message) => task.warn(message),
  });
}

/** Returns the requested resolutions, all checked before any is applied. Problems that are no longer open are left out. */
function chosen(
  open: readonly ProblemRecord[],
  resolutions: Readonly<Record<string, string | null>>,
): readonly Choice[] {
  return open.flatMap((problem): Choice[] => {
    if (!Object.hasOwn(resolutions, problem.id)) return [];
    const { resolutions: offered, byDefault } = OFFERS[problem.type];
    const given = resolutions[problem.id] ?? byDefault;
    const name = offered.find((one) => one === given);
    if (name === undefined) throw BadResolution({ problem: problem.id, type: problem.type, given, offered });
    return [{ problem, name }];
  });
}
