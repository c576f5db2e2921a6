import { problemsError } from "@slipway/engine/documents/problems";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { stemcellsByCpiName, withCpiNames } from "@slipway/engine/journal/cpi-names";
import { checkDeploy } from "@slipway/engine/manifest/deploy-problems";
import type { UpdatePolicy } from "@slipway/engine/manifest/model";
import { notesOn } from "@slipway/engine/manifest/notes";
import { pinDeployedVersions } from "@slipway/engine/manifest/pin-deployed-versions";
import { resolveStemcells, stemcellsIn } from "@slipway/engine/manifest/resolve-stemcells";
import type { InstanceUuid } from "@slipway/engine/model/names";
import type { StemcellRecord } from "@slipway/engine/model/records";
import type { PlanInput, PlanOptions, StateChange } from "@slipway/engine/plan/model";
import type { FlowContext } from "@slipway/engine/steps/context";
import type { DeployOptions } from "@slipway/protocol/director/task-params";
import { cpiConfigs } from "../../cpis/configured.ts";
import { findConfigs } from "../../store/configs.ts";
import { listDeployments, teamsOfDeployment } from "../../store/deployments.ts";
import { loadInstances } from "../../store/instances.ts";
import { takenIps } from "../../store/ips.ts";
import { listNetworks } from "../../store/networks.ts";
import type { Db } from "../../store/schema.ts";
import { usableStemcells } from "../../store/stemcells.ts";
import type { TaskContext } from "../../tasks/task.ts";
import { askAgents } from "../ask-agents.ts";
import { clearWorkers } from "../compile/workers.ts";
import { ConfigsGone, NoCloudConfig, NothingDeployed, OtherDeployment } from "../errors.ts";
import { makeNetworks, networksByName } from "../networks/make.ts";
import type { OperationContext } from "../operation.ts";
import { linkNames } from "./jobs-planner.ts";
import { type DeployVariables, deploymentVariables, type VariablesRequest } from "./variables.ts";

/** Deadline with --fix: silent agents are expected, and not waited for as long as one that is only busy. */
const FIX_ANSWER_MS = 15_000;

/** Request for a deploy, wherever it came from. */
export interface DeploymentRequest {
  readonly deployment: string;
  readonly manifestText: string;
  readonly configIds: readonly number[];
  readonly options: DeployOptions;
  readonly state: StateChange | undefined;
  readonly firstDeploy: boolean;
  /** Choice of the versions of variables. */
  readonly versions: VariablesRequest["versions"];
  /** Time of the request: VMs made since are as new as it wants them. */
  readonly askedAt: number;
  /** Instances whose agents were just asked in vain. */
  readonly silent?: ReadonlySet<string>;
}

/** `variables`: for what is made of them after the plan. */
export interface Gathered extends PlanInput {
  readonly variables: DeployVariables;
  /** Managed networks that the deployment uses. */
  readonly managedNetworks: readonly string[];
}

/** Gathers everything a plan is made of: the wanted, the recorded, and the reports of agents. */
export async function gather(
  request: DeploymentRequest,
  tools: OperationContext,
  context: FlowContext,
  task: TaskContext,
): Promise<Gathered> {
  const { clouds } = tools;
  const nameOf = (recorded: string) => clouds.nameOf(recorded);
  const stemcells = stemcellsByCpiName(await usableStemcells(tools.db), nameOf);
  const { variables, again, ...read } = await readDocuments(request, stemcells, tools, task);
  const settled = await settleOpenIntents(context);
  if (settled > 0) context.debug(`${settled} steps of an earlier run were settled`);
  const all = (await loadInstances(tools.db, request.deployment)).map((one) => withCpiNames(one, nameOf));
  const instances = all.filter(({ compilation }) => compilation !== true);
  const dryRun = request.options.dry_run;
  if (!dryRun) await clearWorkers(all, context);
  return {
    ...(await makeNetworks(read, dryRun, again, task, tools, context)),
    variables,
    instances,
    agents: await askAgents(instances, context, {
      ...(request.options.fix && { timeoutMs: FIX_ANSWER_MS }),
      silent: request.silent,
    }),
    takenIps: await takenIps(tools.db, request.deployment, tools.ownIps),
    cpis: clouds.configured ? clouds : undefined,
    stemcells,
    options: planOptions(request),
    newUuid: () => tools.random.uuid() as InstanceUuid,
    fraction: () => tools.random.fraction(),
    director: {
      name: tools.settings.directorName,
      agentEnv: tools.settings.agentEnvBosh,
      ...tools.options,
    },
    firstDeploy: request.firstDeploy,
  };
}

type Read = Pick<Gathered, "manifest" | "cloudConfig">;

/** Reads the documents and reports all mistakes at once, before any call to a CPI or an agent. */
async function readDocuments(
  request: DeploymentRequest,
  stemcells: PlanInput["stemcells"],
  tools: OperationContext,
  task: TaskContext,
): Promise<Read & Pick<Gathered, "variables"> & { readonly again: () => Promise<Read> }> {
  const { manifestText, deployment, configIds } = request;
  const { db, documents } = tools;
  const configs = await findConfigs(db, configIds);
  const missing = configIds.filter((id) => !configs.some((config) => config.id === id));
  if (missing.length > 0) throw ConfigsGone({ ids: missing });
  const allOf = (wanted: string) =>
    Promise.all(
      configs
        .filter(({ type }) => type === wanted)
        .map(({ content: text, name }) =>
          documents.ask("value", { text, what: `${wanted} config '${name}'` }),
        ),
    );
  const cloudConfigs = await allOf("cloud");
  if (cloudConfigs.length === 0) throw NoCloudConfig({});
  const raw = {
    manifest: await documents.ask("value", { text: manifestText, what: "the manifest" }),
    cloudConfigs,
    runtimeConfigs: await allOf("runtime"),
  };
  const variables = await deploymentVariables(
    variablesRequest(request, raw.manifest, stemcells, db),
    raw,
    task,
    tools,
  );
  const check = async (): Promise<Read> => {
    const found = checkDeploy({
      ...variables.documents,
      stemcells,
      teams: await teamsOfDeployment(db, deployment),
      ignoreMissingGateway: tools.options.ignoreMissingGateway,
      ...(tools.options.enableCpiNetworkManagement === true && {
        managedNetworks: networksByName(await listNetworks(db)),
      }),
    });
    if (!found.ok) throw problemsError(found.what, found.problems);
    const [deployed] = request.versions === "deployed" ? await listDeployments(db, [deployment]) : [];
    return {
      manifest: deployed ? pinDeployedVersions(found.manifest, deployed, stemcells) : found.manifest,
      cloudConfig: found.cloudConfig,
    };
  };
  const checked = await check();
  if (checked.manifest.name !== deployment)
    throw OtherDeployment({ named: checked.manifest.name, deployment });
  if (request.versions === "new") {
    const { warnings, deprecations } = notesOn({ ...raw, cpiConfigs: await cpiConfigs(tools) });
    for (const warning of warnings) task.warn(warning);
    for (const deprecation of deprecations) task.deprecated(deprecation);
  }
  if (variables.waitsForLinks)
    await variables.generateLinked(await linkNames(checked, variables, task, tools));
  return {
    ...(await variables.pinned(checked)),
    variables,
    again: async () => await variables.pinned(await check()),
  };
}

function planOptions({ options, state, askedAt }: DeploymentRequest): PlanOptions {
  const before = options.recreate_vms_created_before;
  const given = before === undefined ? undefined : new Date(before).getTime();
  // A resumed task does not recreate again what it has recreated already.
  const recreates = options.recreate || state?.to === "recreate";
  return {
    recreate: options.recreate || given !== undefined,
    recreateDisksCreatedBefore: options.recreate_persistent_disks ? askedAt : undefined,
    recreateVmsCreatedBefore: given ?? (recreates ? askedAt : undefined),
    fix: options.fix,
    askedAt,
    canaries: amountOf(options.canaries),
    maxInFlight: amountOf(options.max_in_flight),
    skipDrain: options.skip_drain,
    state,
  };
}

function amountOf(text: string | undefined): UpdatePolicy["canaries"] | undefined {
  if (text === undefined) return undefined;
  return text.endsWith("%") ? { percent: Number(text.slice(0, -1)) } : { count: Number(text) };
}

const variablesRequest = (
  { deployment, versions, options }: DeploymentRequest,
  manifest: unknown,
  stemcells: readonly StemcellRecord[],
  db: Db,
): VariablesRequest => ({
  deployment,
  versions,
  dryRun: options.dry_run,
  forceLatest: options.force_latest_variables,
  stemcellsChanged: async () => {
    const [summary] = await listDeployments(db, [deployment]);
    const used = new Set((summary?.stemcells ?? []).map(({ name, version }) => `${name}/${version}`));
    const wanted = stemcellsIn(manifest).flatMap((one) => {
      const found = resolveStemcells([one], stemcells);
      return found.ok ? found.stemcells : [];
    });
    return !wanted.some(({ records }) => records.some(({ name, version }) => used.has(`${name}/${version}`)));
  },
});

export const AS_DEPLOYED = {
  recreate: false,
  recreate_persistent_disks: false,
  dry_run: false,
  force_latest_variables: false,
};

/** Returns the deployment as it was last deployed. Silent agents do not block it. */
export async function deployedRequest(
  deployment: string,
  { db }: OperationContext,
): Promise<DeploymentRequest> {
  const [found] = await listDeployments(db, [deployment]);
  if (found === undefined || found.manifestText === null) throw NothingDeployed({ deployment });
  return {
    deployment,
    manifestText: found.manifestText,
    configIds: found.configs.map(({ id }) => id),
    options: { ...AS_DEPLOYED, fix: true, skip_drain: [] },
    state: undefined,
    firstDeploy: false,
    versions: "deployed",
    askedAt: 0,
  };
}
