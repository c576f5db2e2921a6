import {
  type CompileStemcell,
  keyText,
  type NeededPackage,
  NeededPackages,
} from "@slipway/engine/compile/needed";
import type { PlannedJob } from "@slipway/engine/jobs/model";
import { suitedTo } from "@slipway/engine/manifest/exported-from";
import type { DesiredInstance } from "@slipway/engine/model/goal";
import type { InstanceUuid } from "@slipway/engine/model/names";
import {
  activeVm,
  type InstalledPackage,
  type InstanceJobs,
  type InstanceRecord,
} from "@slipway/engine/model/records";
import type { Plan, PlanInput } from "@slipway/engine/plan/model";
import type { Placement } from "@slipway/engine/plan/plan";
import type { KnownRelease } from "@slipway/engine/releases/model";
import type { JobsToRun } from "@slipway/engine/steps/context";
import type { OperationContext } from "../operation.ts";
import { deliverJobs } from "./deliver-jobs.ts";
import { pinContext } from "./fill-context.ts";
import type { JobsPlanner } from "./jobs-planner.ts";
import { type InstanceToRender, type RenderedInstance, renderInstances } from "./render-instances.ts";
import type { DeployVariables } from "./variables.ts";

/** Rendered jobs of a deploy's instances; packages may have to be compiled still. */
export interface PreparedJobs {
  /** Packages, each after those that it is compiled with. */
  readonly packages: readonly NeededPackage[];
  /** Notes on what is no mistake, but perhaps not meant. */
  readonly notes: readonly string[];
  /** Returns the jobs with compiled packages; one that is not compiled yet counts as new. */
  instanceJobs(compiled: ReadonlyMap<string, Built>): ReadonlyMap<InstanceUuid, InstanceJobs>;
  /** Renders what was not rendered and is sent to an agent by this plan, before anything has changed. */
  renderFor(plan: Plan): Promise<void>;
  /** Brings them to the agents. */
  toRun(compiled: ReadonlyMap<string, Built>): JobsToRun;
}

type Built = { readonly build: number; readonly blobId: string; readonly digest: string };

/** Reports whether a deployment runs anything, or did. */
export const hasJobs = ({ manifest, instances }: PlanInput): boolean =>
  manifest.groups.some(({ jobs }) => jobs.length > 0) ||
  instances.some(({ spec }) => (spec?.jobs?.jobs.length ?? 0) > 0);

export interface Given {
  readonly releases: ReadonlyMap<string, KnownRelease>;
  readonly only: (uuid: string, group: string) => boolean;
  readonly planner: JobsPlanner;
  readonly variables: Pick<DeployVariables, "late" | "lateOf" | "pinForLater">;
}

/**
 * Links, properties and templates of all instances that stay. `only`: of these alone, where others do not matter. As
 * upstream, an errand without a VM is not rendered before it runs; its packages are compiled and its variables looked up.
 */
export async function prepareJobs(
  { desired, idleErrands, input: { manifest, instances } }: Placement,
  { releases, planner, only, variables }: Given,
  tools: OperationContext,
  signal: AbortSignal,
): Promise<PreparedJobs> {
  const concerned = desired.filter(({ uuid, group }) => only(uuid, group));
  const byUuid = new Map(concerned.map((one) => [one.uuid, one]));
  const plannedJobs = planner.all;
  const jobsOf = ({ uuid }: DesiredInstance): readonly PlannedJob[] => plannedJobs.instances.get(uuid) ?? [];
  const toRender = concerned.filter(({ group }) => !idleErrands.has(group));
  const withTemplates = new Set<string>(
    desired.map(({ group }) => group).filter((one) => !idleErrands.has(one)),
  );
  for (const [group, contexts] of plannedJobs.groups)
    if (!withTemplates.has(group)) for (const context of contexts) await pinContext(context, variables);
  const recorded = new Map(instances.map(({ uuid, spec }) => [uuid, spec?.jobs]));
  const rendered = new Map(
    await renderInstances(
      toRender.map((one) => ({ ...toBeRendered(one), before: recorded.get(one.uuid) })),
      variables,
      tools,
      signal,
    ),
  );
  const exportedFrom = new Map(manifest.releases.map((one) => [one.name, one.exportedFrom]));
  const needed = new NeededPackages();
  const packages = new Map<InstanceUuid, readonly NeededPackage[]>();
  for (const one of concerned) {
    const stemcell = stemcellOf(one, manifest);
    const its = jobsOf(one).flatMap(({ job, release }) => {
      const from = releases.get(release.name);
      const exported = suitedTo(exportedFrom.get(release.name) ?? [], stemcell);
      return from === undefined ? [] : needed.ofJob(from, job, stemcell, exported);
    });
    packages.set(one.uuid, [...new Map(its.map((wanted) => [wanted.package.name, wanted])).values()]);
  }
  const instanceJobs: PreparedJobs["instanceJobs"] = (compiled) =>
    new Map(
      concerned.flatMap((one) => {
        const found = rendered.get(one.uuid);
        const jobs = jobsOf(one);
        if (found === undefined || jobs.length === 0) return [];
        return [[one.uuid, jobsAs(found, jobs, packages.get(one.uuid) ?? [], compiled)]];
      }),
    );
  return {
    packages: needed.inOrder,
    notes: plannedJobs.notes,
    instanceJobs,
    renderFor: async (plan) => {
      const missing = concerned.filter(
        (one) => rendered.get(one.uuid)?.archive === undefined && !hasUnknownAddress(one),
      );
      const sent = instancesSent(plan);
      const some = missing.filter(({ uuid }) => sent.has(uuid)).map(toBeRendered);
      for (const [uuid, { archive }] of await renderInstances(some, variables, tools, signal)) {
        const known = rendered.get(uuid);
        if (known !== undefined) rendered.set(uuid, { ...known, archive });
      }
    },
    toRun: (compiled) => deliverJobs(instanceJobs(compiled), withLearned, tools),
  };

  function toBeRendered(one: DesiredInstance): InstanceToRender {
    return { uuid: one.uuid, group: one.group, jobs: jobsOf(one) };
  }

  /** Renders the jobs again once the VM exists: addresses that the cloud gives are known only then. */
  async function withLearned(instance: InstanceRecord): Promise<RenderedInstance | undefined> {
    const { uuid, group } = instance;
    const vm = activeVm(instance);
    const one = byUuid.get(uuid);
    const there = rendered.get(uuid);
    if (vm === undefined || one === undefined || !hasUnknownAddress(one)) {
      if (one === undefined || there === undefined || there.archive !== undefined) return there;
      return (await renderInstances([toBeRendered(one)], variables, tools, signal)).get(uuid);
    }
    const known = { ...one, networks: vm.networks };
    const all = planner.again(
      desired.map((other) => (other.uuid === uuid ? known : other)),
      uuid,
    );
    const jobs = all.instances.get(uuid) ?? [];
    return (await renderInstances([{ uuid, group, jobs }], variables, tools, signal)).get(uuid);
  }
}

/** Instances whose rendered jobs a plan sends to an agent. */
const instancesSent = ({ missingVms, groups }: Plan): ReadonlySet<string> =>
  new Set(
    [...missingVms, ...groups.flat().flatMap(({ batches }) => batches.flatMap((one) => one.instances))]
      .filter(({ steps }) => steps.some(({ name }) => name === "prepare_jobs" || name === "apply"))
      .flatMap(({ desired }) => desired?.uuid ?? []),
  );

const hasUnknownAddress = ({ networks }: DesiredInstance): boolean =>
  Object.values(networks).some(({ type, ip }) => type === "dynamic" && ip === undefined);

function stemcellOf({ stemcell, group }: DesiredInstance, manifest: PlanInput["manifest"]): CompileStemcell {
  const alias = manifest.groups.find(({ name }) => name === group)?.stemcell ?? "";
  return { os: stemcell.operatingSystem, version: stemcell.version, alias };
}

function jobsAs(
  rendered: RenderedInstance,
  jobs: readonly PlannedJob[],
  packages: readonly NeededPackage[],
  compiled: ReadonlyMap<string, Built>,
): InstanceJobs {
  return {
    jobs: jobs.map(({ job }) => ({ name: job.name, version: job.version, logs: job.job.logs })),
    packages: packages.map((one): InstalledPackage => {
      const built = compiled.get(keyText(one.key));
      const { name, version } = one.package;
      return built === undefined
        ? { name, version, digest: "", blobId: "" }
        : { name, version: `${version}.${built.build}`, digest: built.digest, blobId: built.blobId };
    }),
    configurationHash: rendered.configurationHash,
    templateHashes: rendered.templateHashes,
    files: rendered.files,
    ...(rendered.inputs !== undefined && { inputs: rendered.inputs }),
  };
}
