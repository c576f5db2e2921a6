import { parseAttachDiskResult } from "@slipway/protocol/cpi/attach-disk-result";
import type { Capabilities } from "@slipway/protocol/cpi/capabilities";
import { parseCreateVmResult } from "@slipway/protocol/cpi/create-vm-result";
import { parseDetachDiskResult } from "@slipway/protocol/cpi/detach-disk-result";
import type { CpiMethodName } from "@slipway/protocol/cpi/methods";
import type { ListedResources, ListedVm } from "@slipway/protocol/cpi/methods/list_resources";
import type { DiskCid, NetworkCid, SnapshotCid, StemcellCid, VmCid } from "@slipway/protocol/ids";
import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";
import { withoutNulls } from "@slipway/protocol/schema/without-nulls";
import { formatDiskHint } from "@slipway/protocol/settings/disk-hint";
import type { Disks } from "@slipway/protocol/settings/disks";
import type { Networks } from "@slipway/protocol/settings/networks";
import {
  type CallOptions,
  type Cloud,
  type CreateVmArguments,
  type DiskAttached,
  type NetworkCreated,
  refusedAs,
  type VmCreated,
} from "./cloud.ts";
import { CpiSession, type CpiSessionOptions, type Terms } from "./cpi-session.ts";

/** One CPI as the Director calls it: versions negotiated, dialects hidden, results checked. No work is retried. */
export const cpiCloud = (options: CpiSessionOptions): Cloud => cloudOver(new CpiSession(options));

function cloudOver(cpi: CpiSession): Cloud {
  /** Results of these methods mean nothing. */
  const done = async (method: CpiMethodName, args: readonly unknown[], call: CallOptions) => {
    await cpi.call(method, args, call);
  };
  return {
    name: cpi.name,
    recordedBy: (recorder) => cloudOver(cpi.recordedBy(recorder)),
    info: async (waiter = {}) => {
      const { apiVersion, introduced } = await cpi.agree(undefined, waiter);
      const { stemcellFormats, capabilities } = introduced;
      const repeatable = capabilities.repeats_by_request_id === true;
      return { apiVersion, stemcellFormats, capabilities, repeatable };
    },
    channelFor: async (stemcellApiVersion) => {
      const { registryless } = await cpi.agree(stemcellApiVersion, {});
      if (registryless) return "user-data";
      await cpi.registry();
      return "registry";
    },
    createStemcell: (imagePath, cloudProperties, tags, call) =>
      cpi.checked<StemcellCid>(
        "create_stemcell",
        ({ apiVersion }) => [imagePath, cloudProperties, ...(apiVersion >= 3 ? [{ tags }] : [])],
        call,
      ),
    deleteStemcell: (cid, call) => done("delete_stemcell", [cid], call),
    createVm: (args, call) => createVm(cpi, args, call),
    deleteVm: (cid, call) => done("delete_vm", [cid], call),
    hasVm: (cid, call) => cpi.checked<boolean>("has_vm", [cid], call),
    vmLog: async (cid, call) => {
      const { introduced } = await cpi.agree(undefined, call);
      if (introduced.capabilities.get_vm_log !== true) return undefined;
      return await cpi.checked<string>("get_vm_log", [cid], call);
    },
    listResources: async (call) => {
      const { introduced } = await cpi.agree(undefined, call);
      if (introduced.capabilities.list_resources !== true) return undefined;
      const { vms, ...rest } = await cpi.checked<ListedResources>("list_resources", [], call);
      return { ...rest, vms: vms.map(withPlainNetworks) };
    },
    rebootVm: (cid, call) => done("reboot_vm", [cid], call),
    setVmMetadata: (cid, metadata, call) => tag(cpi, "set_vm_metadata", cid, metadata, call),
    calculateVmCloudProperties: (requirements, call) =>
      cpi.checked<JsonObject>("calculate_vm_cloud_properties", [requirements], call),
    createDisk: (sizeMib, cloudProperties, vmCid, call) =>
      cpi.checked<DiskCid>("create_disk", [sizeMib, cloudProperties, vmCid], call),
    deleteDisk: (cid, call) => done("delete_disk", [cid], call),
    hasDisk: (cid, call) => cpi.checked<boolean>("has_disk", [cid], call),
    attachDisk: (vm, disk, call) => attachDisk(cpi, vm, disk, call),
    detachDisk: (vm, disk, call) => detachDisk(cpi, vm, disk, call),
    setDiskMetadata: (cid, metadata, call) => tag(cpi, "set_disk_metadata", cid, metadata, call),
    resizeDisk: (cid, sizeMib, call) => done("resize_disk", [cid, sizeMib], call),
    updateDisk: async (cid, sizeMib, cloudProperties, call) =>
      (await cpi.checked<DiskCid | null>("update_disk", [cid, sizeMib, cloudProperties], call)) ?? cid,
    snapshotDisk: (cid, metadata, call) => cpi.checked<SnapshotCid>("snapshot_disk", [cid, metadata], call),
    deleteSnapshot: (cid, call) => done("delete_snapshot", [cid], call),
    createNetwork: (definition, call) => createNetwork(cpi, definition, call),
    deleteNetwork: (cid, call) => done("delete_network", [cid], call),
  };
}

const withPlainNetworks = (vm: ListedVm): ListedVm =>
  vm.networks === undefined ? vm : { ...vm, networks: withoutNulls(vm.networks) as Networks };

async function createVm(cpi: CpiSession, args: CreateVmArguments, call: CallOptions): Promise<VmCreated> {
  const { result, apiVersion } = await cpi.call("create_vm", (terms) => createVmArguments(args, terms), call);
  const parsed = parseCreateVmResult(result, { apiVersion, networks: args.networks });
  if (!parsed.ok) throw cpi.wrong("create_vm", call, parsed.problem);
  const { dialect, cid, networks, disks } = parsed.vm;
  cpi.dialect.saw(dialect);
  // An empty hash is as good as none: every VM was asked for with its networks.
  const said = networks !== undefined && Object.keys(networks).length > 0;
  return { cid, networks: said ? networks : args.networks, disks: disks ?? {} };
}

async function attachDisk(
  cpi: CpiSession,
  vm: VmCid,
  disk: DiskCid,
  call: CallOptions,
): Promise<DiskAttached> {
  const { result, apiVersion } = await cpi.call(
    "attach_disk",
    (terms) => diskArguments("attach_disk", [vm, disk], call.disks, terms),
    call,
  );
  const parsed = parseAttachDiskResult(result, { apiVersion, diskCid: disk });
  if (!parsed.ok) throw cpi.wrong("attach_disk", call, parsed.problem);
  const { hint, disks } = parsed.disk;
  return { hint: hint === undefined ? undefined : formatDiskHint(hint), disks };
}

async function detachDisk(
  cpi: CpiSession,
  vm: VmCid,
  disk: DiskCid,
  call: CallOptions,
): Promise<Disks | undefined> {
  const { result, apiVersion, capabilities } = await cpi.call(
    "detach_disk",
    (terms) => diskArguments("detach_disk", [vm, disk], call.disks, terms),
    call,
  );
  const parsed = parseDetachDiskResult(result, { apiVersion, capabilities, diskCid: disk });
  if (!parsed.ok) throw cpi.wrong("detach_disk", call, parsed.problem);
  return parsed.disks;
}

async function createNetwork(
  cpi: CpiSession,
  definition: JsonObject,
  call: CallOptions,
): Promise<NetworkCreated> {
  const [cid, { range, gateway, reserved }, cloudProperties] = await cpi.checked<
    [
      NetworkCid,
      { readonly range?: string; readonly gateway?: string; readonly reserved?: string[] },
      JsonObject,
    ]
  >("create_network", [definition], call);
  return { cid, range, gateway, reserved: reserved ?? [], cloudProperties };
}

/** Tags are a convenience: a CPI without them is fine. */
async function tag(
  cpi: CpiSession,
  method: "set_vm_metadata" | "set_disk_metadata",
  cid: string,
  metadata: JsonObject,
  call: CallOptions,
): Promise<void> {
  try {
    await cpi.call(method, [cid, metadata], call);
  } catch (error) {
    if (!refusedAs(error, "NotImplemented")) throw error;
    call.log?.(
      `[external-cpi] [${call.requestId}] ${method} is not implemented by this CPI: ${cid} has no tags\n`,
    );
  }
}

/** Drafts are spoken from version 2 on, and only with a CPI that announces them. */
const speaks = (terms: Terms, flag: keyof Capabilities): boolean =>
  terms.apiVersion >= 2 && terms.capabilities[flag] === true;

function createVmArguments(args: CreateVmArguments, terms: Terms): readonly unknown[] {
  const { agentId, stemcellCid, cloudProperties, networks, diskCids, env } = args;
  if (!speaks(terms, "bootstrap_settings_arg"))
    return [agentId, stemcellCid, cloudProperties, networks, diskCids, env];
  return [stemcellCid, cloudProperties, bootstrapSettings(agentId, env), networks, diskCids, env];
}

/** The part of the agent's settings that the Director knows before there is a VM. */
function bootstrapSettings(agentId: string, env: JsonObject): JsonObject {
  const bosh = objectAt(env, "bosh");
  const mbus = first(objectAt(bosh, "mbus").urls);
  const blobstore = first(bosh.blobstores);
  return {
    agent_id: agentId,
    ...(mbus !== undefined && { mbus }),
    ...(bosh.ntp !== undefined && { ntp: bosh.ntp }),
    ...(blobstore !== undefined && { blobstore }),
  };
}

const first = (list: Json | undefined): Json | undefined =>
  Array.isArray(list) ? (list[0] as Json) : undefined;

function objectAt(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isObject(value) ? (value as JsonObject) : {};
}

/** `[vm, disk]`, and the disks of the VM for those who take them. */
function diskArguments(
  method: "attach_disk" | "detach_disk",
  pair: readonly [vm: string, disk: string],
  disks: Disks | undefined,
  terms: Terms,
): readonly unknown[] {
  const flag = method === "attach_disk" ? "attach_disk_takes_disks" : "detach_disk_returns_disks";
  return speaks(terms, flag) ? [...pair, disks ?? {}] : pair;
}
