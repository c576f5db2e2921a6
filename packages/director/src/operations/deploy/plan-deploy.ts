import { problemsError } from "@slipway/engine/documents/problems";
import { KnownInstances } from "@slipway/engine/flows/run-instance";
import type { Manifest } from "@slipway/engine/manifest/model";
import { newInstance } from "@slipway/engine/model/goal";
import type { Plan, PlanInput } from "@slipway/engine/plan/model";
import { type Placement, placeInstances, planSteps } from "@slipway/engine/plan/plan";
import type { KnownRelease } from "@slipway/engine/releases/model";
import type { FlowContext, JobsToRun } from "@slipway/engine/steps/context";
import { messageTrail } from "@slipway/kernel/errors";
import { type DeploymentRecord, useStemcells } from "../../store/deployments.ts";
import { IpTaken } from "../../store/errors.ts";
import { createInstances, recordInputs, withdrawReservations } from "../../store/instances.ts";
import { takenIps } from "../../store/ips.ts";
import { announceProviders, type DeployedLinks } from "../../store/links.ts";
import { type ChosenRelease, useReleases } from "../../store/releases.ts";
import { isCancelled, type Stage, type TaskContext } from "../../tasks/task.ts";
import { type Compiled, compiledBefore, compilePackages } from "../compile/compile-packages.ts";
import { Workers } from "../compile/workers.ts";
import type { OperationContext } from "../operation.ts";
import { narrowed } from "./execute.ts";
import type { Gathered } from "./gather.ts";
import { deployedLinks, jobsPlanner } from "./jobs-planner.ts";
import { hasJobs, type PreparedJobs, prepareJobs } from "./prepare-jobs.ts";
import type { DeployVariables } from "./variables.ts";

/** Plan of a deploy, with all that it needs made ready. */
export interface PlannedDeploy {
  readonly plan: Plan;
  /** Plan of all instances that stay, whichever are looked at. */
  readonly whole: Plan;
  /** Undefined for a dry run: nothing was reserved. */
  readonly known: KnownInstances | undefined;
  readonly jobs: JobsToRun | undefined;
  readonly releases: readonly ChosenRelease[];
  readonly variables: DeployVariables;
  readonly links: DeployedLinks;
  /** Managed networks that it uses. */
  readonly managedNetworks: readonly string[];
}

interface Deploying {
  readonly deployment: DeploymentRecord;
  readonly dryRun: boolean;
  /** Selects the instances that are looked at. */
  readonly only: (uuid: string, group: string) => boolean;
  readonly preparing: Pick<Stage, "step">;
  /** Finds the uploaded releases that the manifest means. */
  readonly releasesOf: (manifest: Manifest) => Promise<ReadonlyMap<string, KnownRelease>>;
}

/**
 * Places and reserves the instances, prepares their jobs, which may depend on the places of all of them, then plans the
 * steps. Nothing is changed in the cloud by then: a deploy whose jobs cannot be rendered or compiled fails before.
 */
export async function planDeploy(
  gathered: () => Promise<Gathered>,
  { deployment, dryRun, only, preparing, releasesOf }: Deploying,
  task: TaskContext,
  tools: OperationContext,
  context: FlowContext,
): Promise<PlannedDeploy> {
  const { placement, reserved, variables, managedNetworks, found } = await preparing.step(
    "Preparing deployment",
    async () => {
      const { variables: its, managedNetworks: used, ...gatheredInput } = await gathered();
      // Also of releases that no job uses: they are the deployment's, to be exported, and are not cleaned up.
      const releasesByName = await releasesOf(gatheredInput.manifest);
      const reserving = (made: Placement) =>
        dryRun ? Promise.resolve(undefined) : reserve(made, only, deployment, task);
      const made = await placedAndReserved(gatheredInput, deployment.name, reserving, tools);
      return { ...made, variables: its, managedNetworks: used, found: releasesByName };
    },
  );
  const { input } = placement;
  const known = reserved?.known;
  const releases = [...found.values()].map(({ id, name, version }) => ({ id, name, version }));
  /** A task that goes on elsewhere plans with what is reserved. */
  const withdrawing = async (error: unknown): Promise<never> => {
    if (!task.signal.aborted || isCancelled(task))
      await reserved?.withdraw().catch((why: unknown) => {
        task.warn(`addresses reserved for this deploy could not be given back: ${messageTrail(why)}`);
      });
    throw error;
  };
  if (!hasJobs(input)) {
    if (!dryRun) await task.write((db) => useReleases(db, deployment.id, releases)).catch(withdrawing);
    const whole = planSteps(placement);
    return {
      plan: narrowed(whole, only),
      whole,
      known,
      jobs: undefined,
      releases,
      variables,
      links: deployedLinks(input.manifest, undefined),
      managedNetworks,
    };
  }
  const renderAndCompile = async () => {
    const { jobs, links } = await preparing.step("Rendering templates", async () => {
      const planner = await jobsPlanner(placement, { releases: found, variables, dryRun }, task, tools);
      for (const { shared, properties } of planner.all.linkProviders)
        if (shared) await variables.pinForLater(properties);
      const given = { releases: found, planner, only, variables };
      return { jobs: await prepareJobs(placement, given, tools, context.signal), links: planner.all };
    });
    for (const note of jobs.notes) task.warn(note);
    if (!dryRun)
      await task.write(async (db) => {
        await useReleases(db, deployment.id, releases);
        await announceProviders(db, deployment.id, links.linkProviders);
      });
    return { jobs, links, compiled: await packagesOf(jobs, dryRun, input, task, tools, context) };
  };
  const { jobs, links, compiled } = await renderAndCompile().catch(withdrawing);
  const instanceJobs = jobs.instanceJobs(compiled);
  const whole = planSteps(placement, instanceJobs);
  const plan = narrowed(whole, only);
  if (!dryRun) {
    await jobs.renderFor(plan).catch(withdrawing);
    await task.write((db) => recordInputs(db, input.instances, instanceJobs));
  }
  return {
    plan,
    whole,
    known,
    jobs: jobs.toRun(compiled),
    releases,
    variables,
    links: deployedLinks(input.manifest, links),
    managedNetworks,
  };
}

/** Places the instances again if another deployment has taken one of the addresses meanwhile. */
async function placedAndReserved<T>(
  found: PlanInput,
  deployment: string,
  reserving: (placement: Placement) => Promise<T>,
  { db, ownIps }: Pick<OperationContext, "db" | "ownIps">,
): Promise<{ readonly placement: Placement; readonly reserved: T }> {
  for (let input = found, tries = 1; ; tries++) {
    const made = placeInstances(input);
    if (!made.ok) throw problemsError("this cannot be deployed", made.problems);
    try {
      return { placement: made.placement, reserved: await reserving(made.placement) };
    } catch (error) {
      if (!IpTaken.is(error) || tries === MOST_TRIES) throw error;
      input = { ...found, takenIps: await takenIps(db, deployment, ownIps) };
    }
  }
}

/** Tries for addresses: each time another deployment was faster. */
const MOST_TRIES = 10;

async function packagesOf(
  { packages }: PreparedJobs,
  dryRun: boolean,
  input: PlanInput,
  task: TaskContext,
  tools: OperationContext,
  context: FlowContext,
): Promise<Compiled> {
  if (packages.length === 0) return new Map();
  const stage = task.stage("Preparing package compilation", [], 1);
  const before = await stage.step("Finding packages to compile", () => compiledBefore(packages, tools));
  if (dryRun) return before;
  return await compilePackages(packages, before, new Workers(input, task, tools, context), task, tools);
}

/** Reservations of a deploy before any call to the cloud. */
interface Reserved {
  /** Instances of the deployment as known from now on. */
  readonly known: KnownInstances;
  /** Gives back what was reserved, for a deploy that fails before it changes anything. */
  withdraw(): Promise<void>;
}

/** Reserves new instances, all addresses and the stemcells for the deployment, before any call to the cloud. */
async function reserve(
  { input: { instances }, stemcells, ...placement }: Placement,
  only: (uuid: string, group: string) => boolean,
  { id, name }: DeploymentRecord,
  task: TaskContext,
): Promise<Reserved> {
  const desired = placement.desired.filter(({ uuid, group }) => only(uuid, group));
  const recorded = new Map(instances.map((instance) => [instance.uuid, instance]));
  const fresh = desired.filter((instance) => {
    const before = recorded.get(instance.uuid);
    if (before === undefined || before.group !== instance.group || before.index !== instance.index)
      return true;
    if (before.errand !== instance.errand || before.bootstrap !== instance.bootstrap) return true;
    return instance.ips.some(({ address }) => !before.ips.some((ip) => ip.address === address));
  });
  const ids = stemcells.map((stemcell) => stemcell.id);
  await task.write(async (db) => {
    await createInstances(db, name, task.id, fresh);
    await useStemcells(db, id, ids);
  });
  const changed = new Set<string>(fresh.map(({ uuid }) => uuid));
  // As they were recorded just now; what was there before and got another address is read again.
  const created = fresh.filter(({ uuid }) => !recorded.has(uuid));
  const known = new KnownInstances(task.journal, [
    ...instances.filter(({ uuid }) => !changed.has(uuid)),
    ...created.map(newInstance),
  ]);
  const withdraw = () =>
    task.write((db) =>
      withdrawReservations(db, name, task.id, {
        desired: desired.map(({ uuid }) => uuid),
        changed: instances.filter(({ uuid }) => changed.has(uuid)),
      }),
    );
  return { known, withdraw };
}
