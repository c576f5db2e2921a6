import type { ApiVersion } from "@slipway/protocol/cpi/api-version";
import type { AgentId, DiskCid, StemcellCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Networks } from "@slipway/protocol/settings/networks";
import { refusedAs, type VmCreated } from "../../clouds/cloud.ts";
import type { InstanceUuid } from "../../model/names.ts";
import { activeVm } from "../../model/records.ts";
import { vmSuits } from "../../plan/vms.ts";
import { type CallIntent, freshOptions, newRequestId, optionsOf } from "../calls.ts";
import { createVmEnv } from "../env.ts";
import { newVm } from "../select.ts";
import { settleCreate } from "../settle-create.ts";
import { cloudOf, defineStep, type FlowContext, type Subject } from "../step.ts";

interface CreateVm extends CallIntent {
  readonly instance: InstanceUuid;
  readonly agentId: AgentId;
  readonly stemcell: { readonly name: string; readonly version: string; readonly apiVersion: number };
  readonly stemcellCid: StemcellCid;
  readonly cloudProperties: JsonObject;
  readonly vmResources: JsonObject | null;
  readonly networks: Networks;
  readonly diskCids: readonly DiskCid[];
  readonly env: JsonObject;
  readonly tags: JsonObject;
  /** `[director, deployment, group]`, for the names in the agent's env. */
  readonly names: readonly string[];
}

interface Created extends VmCreated {
  readonly channel: "user-data" | "registry";
  readonly apiVersion: ApiVersion;
  readonly certificateUntil: number;
  readonly agentUrl: string;
  readonly createdAt: number;
}

export const createVm = defineStep<CreateVm, Created>({
  name: "create_vm",
  done: (subject) => hasFittingVm(subject),
  intent: ({ plan: { desired }, instance }, context) => {
    if (desired === undefined) return undefined;
    return {
      requestId: newRequestId(context),
      cpi: desired.cpi,
      stemcellApiVersion: desired.stemcell.apiVersion,
      instance: instance.uuid,
      agentId: context.random.uuid() as AgentId,
      stemcell: desired.stemcell,
      stemcellCid: desired.stemcell.cid,
      cloudProperties: desired.cloudProperties,
      vmResources: desired.vmResources ?? null,
      networks: desired.networks,
      diskCids: instance.disks.filter((disk) => disk.active).map((disk) => disk.cid),
      env: desired.env,
      tags: desired.tags,
      names: [context.settings.directorName, context.deployment, instance.group],
    };
  },
  run: create,
  retry: (error, tries, context) =>
    refusedAs(error, "VMCreationFailed") &&
    (error as { readonly okToRetry?: boolean }).okToRetry === true &&
    tries < context.settings.maxVmCreateTries,
  record: (intent, made, writes) =>
    writes.addVm(intent.instance, {
      cid: made.cid,
      agentId: intent.agentId,
      active: false,
      cpi: intent.cpi,
      createdAt: made.createdAt,
      stemcell: {
        name: intent.stemcell.name,
        version: intent.stemcell.version,
        apiVersion: intent.stemcell.apiVersion,
      },
      apiVersion: made.apiVersion,
      channel: made.channel,
      env: intent.env,
      cloudProperties: intent.cloudProperties,
      networks: made.networks,
      disks: made.disks,
      agentUrl: made.agentUrl,
      certificateUntil: made.certificateUntil,
      ready: false,
    }),
  settle: (intent, context) => {
    const instance = `${intent.names.at(-1)}/${intent.instance}`;
    const about = `agent ${intent.agentId} of ${instance} in deployment ${context.deployment}`;
    return settleCreate("vm", about, intent, create, context);
  },
});

function hasFittingVm({ instance, plan }: Subject): boolean {
  const { desired } = plan;
  const made = newVm(instance);
  if (desired === undefined) return true;
  if (made !== undefined) return vmSuits(made, desired);
  const active = activeVm(instance);
  // The second VM of a create-swap-delete is made beside an active one that no longer fits.
  return (
    active !== undefined && vmSuits(active, desired) && !plan.changes.some(({ kind }) => kind === "recreate")
  );
}

/** The certificate is issued anew for a repeat: one of this agent's is as good as another, and none has to be kept. */
async function create(intent: CreateVm, context: FlowContext): Promise<Created> {
  const cloud = cloudOf(context, intent.cpi);
  const { apiVersion } = await cloud.info({ signal: context.signal, log: context.cpiLog });
  const channel = await cloud.channelFor(intent.stemcell.apiVersion);
  const ips = Object.values(intent.networks)
    .filter((network) => network.type !== "vip")
    .flatMap((network) => (network.ip === undefined ? [] : [network.ip]));
  const introduction = await context.agents.introduce({ agentId: intent.agentId, ips });
  const calculated =
    intent.vmResources === null
      ? {}
      : await cloud.calculateVmCloudProperties(intent.vmResources, freshOptions(intent, context));
  const made = await cloud.createVm(
    {
      agentId: intent.agentId,
      stemcellCid: intent.stemcellCid,
      cloudProperties: { ...intent.cloudProperties, ...calculated },
      networks: intent.networks,
      diskCids: intent.diskCids,
      env: createVmEnv(intent, introduction.envBosh, context.settings.agentEnvBosh),
    },
    optionsOf(intent, context),
  );
  return {
    ...made,
    channel,
    apiVersion,
    certificateUntil: introduction.certificateUntil,
    agentUrl: context.agents.urlFor(made.networks) ?? "",
    createdAt: context.clock.now(),
  };
}
