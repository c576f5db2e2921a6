import type { ApiVersion } from "@slipway/protocol/cpi/api-version";
import { type AgentId, agentId, diskCid, stemcellCid } from "@slipway/protocol/ids";
import { type JsonObject, jsonObject } from "@slipway/protocol/schema/json";
import { type Network, networks } from "@slipway/protocol/settings/networks";
import * as v from "valibot";
import type { GivenCertificate } from "../agents/agent.ts";
import { CpiRefused, refusedAs, type VmCreated } from "../clouds/cloud.ts";
import { agentEnvMark } from "../model/agent-env-mark.ts";
import { instanceUuid } from "../model/names.ts";
import { activeVm } from "../model/records.ts";
import { vmSuits } from "../model/vm-suits.ts";
import { callFields, freshOptions, newRequestId, optionsOf } from "./calls.ts";
import { cloudOf, type FlowContext } from "./context.ts";
import { createStep } from "./define.ts";
import { createVmEnv } from "./env.ts";
import { newVm } from "./select.ts";
import type { StepSubject } from "./step.ts";
import { valuesIn, withoutValues } from "./values.ts";
import { withPassword } from "./vm-password.ts";
import { nameOf } from "./words.ts";

const schema = v.object({
  ...callFields,
  instance: instanceUuid,
  agentId,
  stemcell: v.object({ name: v.string(), version: v.string(), apiVersion: v.number() }),
  stemcellCid,
  cloudProperties: jsonObject(),
  vmResources: v.nullable(jsonObject()),
  networks,
  diskCids: v.array(diskCid),
  env: jsonObject(),
  tags: jsonObject(),
  /** `[director, deployment, group]`, for the names in the agent's env. */
  names: v.array(v.string()),
  /** How its agent will be reached. */
  transport: v.picklist(["https", "nats"]),
});
type CreateVm = v.InferOutput<typeof schema>;

interface Created extends VmCreated, GivenCertificate {
  readonly channel: "user-data" | "registry";
  readonly apiVersion: ApiVersion;
  readonly agentUrl: string;
  readonly createdAt: number;
  readonly agentEnv: string;
}

export const createVm = createStep<CreateVm, Created>({
  name: "create_vm",
  subject: "vm",
  calls: ["cpi create_vm"],
  status: "creating vm",
  line: (instance, { stemcell, machine }) =>
    `Creating ${machine} for instance '${nameOf(instance)}' from stemcell '${stemcell}'`,
  version: 2,
  // Version 1 knows HTTPS only.
  upgrade: { 1: (older) => ({ ...older, transport: "https" }) },
  schema,
  intent: (subject, context) => {
    const { instance, goal } = subject;
    const { desired } = goal;
    if (desired === undefined || hasFittingVm(subject)) return undefined;
    const { name, version, apiVersion, cid } = desired.stemcell;
    return {
      requestId: newRequestId(context),
      cpi: desired.cpi,
      stemcellApiVersion: apiVersion,
      instance: instance.uuid,
      agentId: context.random.uuid() as AgentId,
      stemcell: { name, version, apiVersion },
      stemcellCid: cid,
      cloudProperties: desired.cloudProperties,
      vmResources: desired.vmResources ?? null,
      networks: desired.networks,
      diskCids: instance.disks.filter((disk) => disk.active).map((disk) => disk.cid),
      env: desired.env,
      tags: desired.tags,
      names: [context.settings.directorName, context.deployment, instance.group],
      transport: context.agents.transport,
    };
  },
  run: create,
  retry: (error, tries, context) =>
    error instanceof CpiRefused &&
    refusedAs(error, "VMCreationFailed") &&
    error.okToRetry &&
    tries < context.settings.maxVmCreateTries,
  record: (intent, made, writes) =>
    writes.addVm({
      cid: made.cid,
      agentId: intent.agentId,
      active: false,
      cpi: intent.cpi,
      createdAt: made.createdAt,
      stemcell: intent.stemcell,
      apiVersion: made.apiVersion,
      channel: made.channel,
      env: intent.env,
      cloudProperties: intent.cloudProperties,
      networks: made.networks,
      disks: made.disks,
      agentUrl: made.agentUrl,
      certificateUntil: made.certificateUntil,
      natsTrust: made.natsTrust,
      ready: false,
      agentEnv: made.agentEnv,
    }),
  event: (_, made) => ({ action: "create", objectType: "vm", objectName: made?.cid ?? null }),
  stray: (intent, { deployment }) => ({
    kind: "vm",
    about: `agent ${intent.agentId} of ${intent.names.at(-1)}/${intent.instance} in deployment ${deployment}`,
    addresses: Object.values(intent.networks).flatMap(heldAs),
  }),
});

/** Returns an address in the form of the records: a single address, or a prefix. */
function heldAs({ ip, prefix, type }: Network): readonly string[] {
  if (ip === undefined) return [];
  const single = type !== "manual" || prefix === undefined || prefix === (ip.includes(":") ? "128" : "32");
  return [single ? ip : `${ip}/${prefix}`];
}

function hasFittingVm({ instance, goal }: StepSubject): boolean {
  const { desired } = goal;
  const made = newVm(instance);
  if (desired === undefined) return true;
  if (made !== undefined) return vmSuits(made, desired);
  const active = activeVm(instance);
  // The second VM of a create-swap-delete is made beside an active one that no longer fits.
  return (
    active !== undefined && vmSuits(active, desired) && !goal.changes.some(({ kind }) => kind === "recreate")
  );
}

/** Creates the VM. A repeat gets a new certificate: any certificate of this agent will do, and none has to be stored. */
async function create(intent: CreateVm, context: FlowContext): Promise<Created> {
  const cloud = cloudOf(context, intent.cpi);
  const { apiVersion } = await cloud.info({ signal: context.signal, log: context.cpiLog });
  const channel = await cloud.channelFor(intent.stemcell.apiVersion);
  const ips = Object.values(intent.networks)
    .filter((network) => network.type !== "vip")
    .flatMap((network) => (network.ip === undefined ? [] : [network.ip]));
  const values = await valuesIn(
    { cloudProperties: intent.cloudProperties, env: intent.env, networks: intent.networks as JsonObject },
    context,
  );
  const { envBosh, ...given } = await context.agents.introduce(
    { agentId: intent.agentId, ips },
    intent.transport,
  );
  const calculated =
    intent.vmResources === null
      ? {}
      : await cloud.calculateVmCloudProperties(intent.vmResources, freshOptions(intent, context));
  const { agentEnvBosh, generateVmPasswords } = context.settings;
  const env = createVmEnv({ ...intent, env: values.env }, envBosh, agentEnvBosh);
  const made = await cloud.createVm(
    {
      agentId: intent.agentId,
      stemcellCid: intent.stemcellCid,
      cloudProperties: { ...values.cloudProperties, ...calculated },
      networks: values.networks as typeof intent.networks,
      diskCids: intent.diskCids,
      env: generateVmPasswords === true ? withPassword(env, intent.agentId) : env,
    },
    optionsOf(intent, context),
  );
  return {
    ...made,
    networks: withoutValues(made.networks, intent.networks),
    channel,
    apiVersion,
    ...given,
    agentUrl: context.agents.urlFor(made.networks, intent.transport) ?? "",
    createdAt: context.clock.now(),
    agentEnv: agentEnvMark(agentEnvBosh, intent.agentId),
  };
}
