import { problemsError } from "@slipway/engine/documents/problems";
import { unresolvedVariables } from "@slipway/engine/documents/variables";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { parseCloudConfig } from "@slipway/engine/manifest/cloud-config";
import { parseManifest } from "@slipway/engine/manifest/deployment";
import type { CloudConfig, Manifest, UpdatePolicy } from "@slipway/engine/manifest/model";
import { referenceProblems } from "@slipway/engine/manifest/references";
import type { InstanceUuid } from "@slipway/engine/model/names";
import type { PlanInput, PlanOptions, StateChange } from "@slipway/engine/plan/model";
import type { FlowContext } from "@slipway/engine/steps/context";
import type { DeployOptions } from "@slipway/protocol/director/task-params";
import { findConfigs } from "../../store/configs.ts";
import { loadInstances } from "../../store/instances.ts";
import { takenIps } from "../../store/ips.ts";
import { listStemcells } from "../../store/stemcells.ts";
import { askAgents } from "../ask-agents.ts";
import { ConfigsGone, JobsNotSupported, NoCloudConfig, OtherDeployment } from "../errors.ts";
import type { OperationContext } from "../operation.ts";

/** With --fix silent agents are expected: they are not waited for as long as one that is only busy. */
const FIX_ANSWER_MS = 15_000;

/** What a deploy is asked for, wherever it came from. */
export interface Request {
  readonly deployment: string;
  readonly manifestText: string;
  readonly configIds: readonly number[];
  readonly options: DeployOptions;
  readonly state: StateChange | undefined;
  readonly firstDeploy: boolean;
  /** When it was asked for: VMs made since are as new as it wants them. */
  readonly askedAt: number;
}

/** Everything a plan is made of: the wanted, the recorded, and what the agents say. */
export async function gather(
  request: Request,
  tools: OperationContext,
  context: FlowContext,
): Promise<PlanInput> {
  const manifest = readManifest(request);
  const cloudConfig = await readCloudConfig(request, tools);
  const mistakes = referenceProblems(manifest, cloudConfig);
  if (mistakes.length > 0) throw problemsError("manifest and cloud config do not fit", mistakes);
  refuseJobs(manifest);

  const settled = await settleOpenIntents(context);
  if (settled > 0) context.debug(`${settled} steps of an earlier run were settled`);
  const instances = await loadInstances(tools.db, request.deployment);
  const taken = await takenIps(tools.db, request.deployment);
  for (const ip of tools.ownIps) taken.set(ip, "the Director");
  return {
    manifest,
    cloudConfig,
    instances,
    agents: await askAgents(instances, context, request.options.fix ? FIX_ANSWER_MS : undefined),
    takenIps: taken,
    stemcells: await listStemcells(tools.db),
    options: planOptions(request),
    newUuid: () => tools.random.uuid() as InstanceUuid,
    fraction: () => tools.random.fraction(),
    director: { name: tools.settings.directorName, ...tools.options },
    firstDeploy: request.firstDeploy,
  };
}

function readManifest({ manifestText, deployment }: Request): Manifest {
  const document = parseYaml(manifestText, "the manifest");
  const open = unresolvedVariables(document);
  if (open.length > 0) throw problemsError("the manifest has variables without a value", open);
  const parsed = parseManifest(document);
  if (!parsed.ok) throw problemsError("the manifest is not valid", parsed.problems);
  if (parsed.manifest.name !== deployment) throw OtherDeployment({ named: parsed.manifest.name, deployment });
  return parsed.manifest;
}

async function readCloudConfig({ configIds }: Request, tools: OperationContext): Promise<CloudConfig> {
  const configs = await findConfigs(tools.db, configIds);
  const missing = configIds.filter((id) => !configs.some((config) => config.id === id));
  if (missing.length > 0) throw ConfigsGone({ ids: missing });
  const documents = configs
    .filter(({ type }) => type === "cloud")
    .map((config) => parseYaml(config.content, `cloud config '${config.name}'`));
  if (documents.length === 0) throw NoCloudConfig({});
  const parsed = parseCloudConfig(documents);
  if (!parsed.ok) throw problemsError("the cloud config is not valid", parsed.problems);
  return parsed.cloudConfig;
}

function refuseJobs(manifest: Manifest): void {
  const groups = manifest.groups.filter(({ jobs }) => jobs.length > 0).map(({ name }) => name);
  if (groups.length > 0) throw JobsNotSupported({ groups: groups.join(", ") });
}

function planOptions({ options, state, askedAt }: Request): PlanOptions {
  const before = options.recreate_vms_created_before;
  const given = before === undefined ? undefined : new Date(before).getTime();
  // A resumed task does not make anew what it has made already.
  const recreates = options.recreate || state?.to === "recreate";
  return {
    recreate: options.recreate || given !== undefined,
    recreateDisksCreatedBefore: options.recreate_persistent_disks ? askedAt : undefined,
    recreateVmsCreatedBefore: given ?? (recreates ? askedAt : undefined),
    fix: options.fix,
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
