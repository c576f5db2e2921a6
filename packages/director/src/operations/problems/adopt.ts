import { transportOf } from "@slipway/engine/agents/address";
import { changeInstance } from "@slipway/engine/flows/run-steps";
import { display, slug } from "@slipway/engine/model/names";
import { activeDisk, activeVm, type VmRecord } from "@slipway/engine/model/records";
import { agentOf } from "@slipway/engine/steps/context";
import { messageTrail } from "@slipway/kernel/errors";
import type { ListedVm } from "@slipway/protocol/cpi/methods/list_resources";
import type { AgentId, VmCid } from "@slipway/protocol/ids";
import type { Networks } from "@slipway/protocol/settings/networks";
import { type Reservation, reserveIps } from "../../store/ips.ts";
import { recordedCids } from "../../store/recorded.ts";
import { removeStrayOf } from "../../store/strays.ts";
import { NotProven, RecordedVmThere } from "../errors.ts";
import { isThere, mountsOf } from "./look.ts";
import type { Resolution, Scene } from "./scene.ts";
import { stemcellOf } from "./stemcell-of.ts";
import { listed } from "./unrecorded.ts";

const ANSWER_MS = 10_000;
/** Time for an agent to connect to NATS after the scan: the server learns of it every ten seconds, and an agent tries again. */
const CONNECT_MS = 60_000;

/** A VM becomes the instance's when its own agent says that it is, under the id the cloud says it was made with. */
export const adoptVm: Resolution = async (scene) => {
  const { problem, instance, context, task, db } = scene;
  const { cpi } = problem;
  const found = cpi === undefined ? undefined : await listed(cpi, context);
  const vm = found?.vms.find(({ cid }) => cid === problem.vm);
  // Gone meanwhile, or a task that was interrupted has adopted it.
  if (cpi === undefined || vm === undefined || (await recordedCids(db)).has(vm.cid)) return;
  const recorded = activeVm(instance);
  if (recorded !== undefined && (await isThere(recorded, context)))
    throw RecordedVmThere({ instance: display(instance), recorded: recorded.cid, cid: vm.cid });
  const { agentId, networks, agentUrl } = addressOf(scene, vm, recorded);
  await mustSayItIs(scene, vm.cid, { agentId, agentUrl });
  const mounted = (await agentOf(context, { agentId, agentUrl }).listDisk(asked(scene))) ?? [];
  const stemcell = await stemcellOf(scene, vm, cpi, recorded);
  const { apiVersion } = await context.clouds
    .cloud(cpi)
    .info({ signal: context.signal, log: context.cpiLog });
  await task.write(async (tx) => {
    // Where its making was given up, its addresses were kept for it.
    await removeStrayOf(tx, agentId);
    await reserveIps(tx, task.id, addressesFor(scene, networks));
  });
  await changeInstance(instance.uuid, context, (writes) => {
    if (recorded !== undefined) writes.removeVm(recorded.cid);
    writes.addVm({
      ...{ cid: vm.cid, agentId, active: false, cpi, createdAt: context.clock.now(), stemcell, apiVersion },
      channel: recorded?.channel ?? "user-data",
      env: recorded?.env ?? {},
      cloudProperties: recorded?.cloudProperties ?? {},
      ...{ networks, disks: {}, agentUrl, ready: true },
      // The end of its certificate is not known: it is renewed with the next ones.
      certificateUntil: context.clock.now(),
    });
    writes.activateVm(vm.cid);
    for (const disk of instance.disks)
      if (vm.disk_cids.includes(disk.cid))
        writes.updateDisk(disk.cid, { attachedTo: vm.cid, mounted: mounted.includes(disk.cid) });
    // What it was made with is not all known: the next deploy compares.
    writes.updateInstance({ updateCompleted: false });
  });
  await note(scene, "vm", vm.cid);
};

/** Returns the addresses to reserve. Those that the instance holds already stay as they are. */
const addressesFor = ({ instance }: Scene, networks: Networks): readonly Reservation[] =>
  Object.entries(networks).flatMap(([network, { ip, type }]) => {
    if (ip === undefined || type === "dynamic" || instance.ips.some(({ address }) => address === ip))
      return [];
    return [{ instance: instance.uuid, ip: { address: ip, network, static: false } }];
  });

function addressOf(
  scene: Scene,
  vm: ListedVm,
  recorded: VmRecord | undefined,
): { readonly agentId: AgentId; readonly networks: Networks; readonly agentUrl: string } {
  const { agents } = scene.context;
  const { agent_id: agentId, networks } = vm;
  if (agentId === undefined || networks === undefined)
    throw notProven(scene, "VM", vm.cid, "the CPI does not say which agent it has, and where");
  const transport = recorded === undefined ? agents.transport : transportOf(recorded.agentUrl);
  const agentUrl = agents.urlFor(networks, transport);
  if (agentUrl === undefined) throw notProven(scene, "VM", vm.cid, "it has no address");
  return { agentId, networks, agentUrl };
}

async function mustSayItIs(
  scene: Scene,
  cid: VmCid,
  address: { readonly agentId: AgentId; readonly agentUrl: string },
): Promise<void> {
  const { context, instance } = scene;
  const no = (why: string) => notProven(scene, "VM", cid, why);
  const state = await agentOf(context, address)
    .getState(false, {
      ...asked(scene),
      ...(transportOf(address.agentUrl) === "nats" && { timeoutMs: CONNECT_MS, once: true }),
    })
    .catch((error: unknown) => {
      context.signal.throwIfAborted();
      throw no(`its agent ${address.agentId} does not answer: ${messageTrail(error)}`);
    });
  const { agent_id, deployment, job, id, index } = state.raw as Record<string, unknown>;
  const group = (job as { name?: unknown } | null | undefined)?.name;
  const says = `${String(deployment)}: ${String(group)}/${String(id)} (${String(index)})`;
  if (agent_id !== undefined && agent_id !== address.agentId) throw no(`its agent is ${String(agent_id)}`);
  if (
    deployment !== context.deployment ||
    group !== instance.group ||
    id !== instance.uuid ||
    Number(index) !== instance.index
  )
    throw no(`its agent says that it is ${says}`);
}

/** A disk becomes the instance's by its description, and its active one only if the instance's agent has it mounted. */
export const adoptDisk: Resolution = async (scene) => {
  const { problem, instance, context, db } = scene;
  const { cpi } = problem;
  const found = cpi === undefined ? undefined : await listed(cpi, context);
  const disk = found?.disks.find(({ cid }) => cid === problem.disk);
  if (cpi === undefined || disk === undefined || (await recordedCids(db)).has(disk.cid)) return;
  const no = (why: string) => notProven(scene, "disk", disk.cid, why);
  if (instance.disks.some(({ name }) => name !== undefined))
    throw no("the instance has named disks, and which of them it is nobody has noted");
  const { size } = disk;
  if (size === undefined) throw no("the CPI does not say how large it is");
  const holder = found?.vms.find(({ disk_cids }) => disk_cids.includes(disk.cid))?.cid;
  const vm = activeVm(instance);
  if (holder !== undefined && holder !== vm?.cid) throw no(`it is attached to the VM '${holder}'`);
  const mounts = vm === undefined || holder === undefined ? [] : await mountsOf(vm, context);
  if (mounts === "silent") throw no("it is attached to the instance's VM, whose agent does not answer");
  const { cloudProperties } = activeDisk(instance) ??
    instance.spec?.persistentDisk ?? { cloudProperties: {} };
  await changeInstance(instance.uuid, context, (writes) => {
    const createdAt = context.clock.now();
    writes.addDisk({ cid: disk.cid, name: undefined, size, cloudProperties, cpi, active: false, createdAt });
    if (holder !== undefined) writes.updateDisk(disk.cid, { attachedTo: holder });
    if (mounts?.includes(disk.cid)) {
      writes.updateDisk(disk.cid, { mounted: true });
      writes.switchDisk(disk.cid);
    }
    writes.updateInstance({ updateCompleted: false });
  });
  await note(scene, "disk", disk.cid);
};

const asked = ({ context }: Scene) => ({ signal: context.signal, timeoutMs: ANSWER_MS });

const notProven = ({ instance }: Scene, what: string, cid: string, why: string): Error =>
  NotProven({ what, cid, instance: display(instance), why });

const note = ({ context, instance }: Scene, objectType: string, objectName: string) =>
  context.audit({
    action: "adopt",
    objectType,
    objectName,
    deployment: context.deployment,
    instance: slug(instance),
  });
