import type { KnownInstances } from "@slipway/engine/flows/run-instance";
import type { Plan, PlanInput } from "@slipway/engine/plan/model";
import type { FlowContext, JobsToRun } from "@slipway/engine/steps/context";
import { messageTrail } from "@slipway/kernel/errors";
import type { DeploymentRecord } from "../../store/deployments.ts";
import { IpTaken } from "../../store/errors.ts";
import { announceProviders, type DeployedLinks } from "../../store/links.ts";
import { type ChosenRelease, useReleases } from "../../store/releases.ts";
import { isCancelled, type Stage, type TaskContext } from "../../tasks/task.ts";
import { type Compiled, compiledBefore, compilePackages } from "../compile/compile-packages.ts";
import { Workers } from "../compile/workers.ts";
import type { OperationContext } from "../operation.ts";
import { deployedLinks } from "./deployed-links.ts";
import { narrowed } from "./execute.ts";
import type { Gathered } from "./gather.ts";
import { jobsPlanner } from "./jobs-planner.ts";
import { knownReleases } from "./known-releases.ts";
import { othersIps } from "./others-ips.ts";
import { planned } from "./planned.ts";
import { hasJobs, type PreparedJobs, prepareJobs } from "./prepare-jobs.ts";
import { repeatable } from "./repeatable.ts";
import { reserve } from "./reserve.ts";
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

export interface Deploying {
  readonly deployment: DeploymentRecord;
  readonly dryRun: boolean;
  /** Selects the instances that are looked at. */
  readonly only: (uuid: string, group: string) => boolean;
  readonly preparing: Pick<Stage, "step">;
}

/**
 * Instances and addresses first; then what they run, which speaks of all of them; then the plan once more, with what each
 * is to run. Nothing of the deployment is changed by then: what cannot be rendered or compiled fails before.
 */
export async function planDeploy(
  gathered: () => Promise<Gathered>,
  { deployment, dryRun, only, preparing }: Deploying,
  task: TaskContext,
  tools: OperationContext,
  context: FlowContext,
): Promise<PlannedDeploy> {
  const { input, rewind, first, reserved, variables, managedNetworks, found } = await preparing.step(
    "Preparing deployment",
    async () => {
      const { variables: its, managedNetworks: used, ...gatheredInput } = await gathered();
      // Also of releases that no job uses: they are the deployment's, to be exported, and are not cleaned up.
      const releasesByName = await knownReleases(gatheredInput.manifest, tools);
      const reserving = (made: Plan, from: PlanInput) =>
        dryRun ? Promise.resolve(undefined) : reserve(narrowed(made, only), from, deployment, task);
      const made = await plannedAndReserved(gatheredInput, deployment.name, reserving, tools);
      return { ...made, variables: its, managedNetworks: used, found: releasesByName };
    },
  );
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
    return {
      plan: narrowed(first, only),
      whole: first,
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
      const planner = await jobsPlanner(first, input, { releases: found, variables, dryRun }, task, tools);
      for (const { shared, properties } of planner.all.linkProviders)
        if (shared) await variables.pinForLater(properties);
      const given = { releases: found, planner, only, variables };
      return { jobs: await prepareJobs(first, input, given, tools, context.signal), links: planner.all };
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
  rewind();
  const whole = planned({ ...input, jobs: jobs.instanceJobs(compiled) });
  return {
    plan: narrowed(whole, only),
    whole,
    known,
    jobs: jobs.toRun(compiled),
    releases,
    variables,
    links: deployedLinks(input.manifest, links),
    managedNetworks,
  };
}

/** Addresses that were free may be another deployment's by now: then others are planned. */
async function plannedAndReserved<T>(
  found: PlanInput,
  deployment: string,
  reserving: (made: Plan, from: PlanInput) => Promise<T>,
  tools: OperationContext,
): Promise<ReturnType<typeof repeatable> & { readonly first: Plan; readonly reserved: T }> {
  for (let input = found, tries = 1; ; tries++) {
    const again = repeatable(input);
    const first = planned(again.input);
    try {
      return { ...again, first, reserved: await reserving(first, again.input) };
    } catch (error) {
      if (!IpTaken.is(error) || tries === MOST_TRIES) throw error;
      input = { ...found, takenIps: await othersIps(deployment, tools) };
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
