import { type Cpi, defineCpi } from "@slipway/cpi-sdk/cpi";
import {
  cloudError,
  diskNotAttached,
  diskNotFound,
  networkNotFound,
  notSupported,
  stemcellNotFound,
  vmNotFound,
} from "@slipway/cpi-sdk/errors";
import type { DiskCid } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Networks } from "@slipway/protocol/settings/networks";
import * as v from "valibot";
import { trustIn } from "./bus.ts";
import { certificateIn } from "./sim-agent.ts";
import { newAgentState, type SimDisk, type SimVm, type SimWorld } from "./world.ts";

export interface SimCpiOptions {
  /** Directory in which results are remembered by request id. Without it a repeat creates again, as with most CPIs. */
  readonly stateDir?: string;
  readonly apiVersion?: 1 | 2 | 3;
  readonly resizes?: boolean;
  /** Changes a disk by making another of it, with another cid. */
  readonly updates?: boolean;
}

/** Networks in there are refused. */
const FORBIDDEN = "10.66.";

/** The world as a CPI: strict, so that a Director that does a thing twice is noticed. */
export function simCpi(world: SimWorld, options: SimCpiOptions = {}): Cpi {
  const { stateDir } = options;
  return defineCpi({
    name: "sim",
    stemcellFormats: ["general-tar", "general-light"],
    config: v.object({}),
    ...(options.apiVersion !== undefined && { apiVersion: options.apiVersion }),
    ...(stateDir !== undefined && { stateDir: () => stateDir }),
    methods: {
      createStemcell: (_, { token }) => {
        const cid = `stemcell-${token}`;
        world.stemcells.add(cid);
        return cid;
      },
      deleteStemcell: ({ stemcellCid }) => {
        if (!world.stemcells.delete(stemcellCid)) throw stemcellNotFound(stemcellCid);
      },
      createVm: ({ agentId, stemcellCid, networks, env }, { token, userData }) => {
        const cid = `vm-${token}`;
        if (world.vms.has(cid)) return { cid };
        if (!world.stemcells.has(stemcellCid)) throw stemcellNotFound(stemcellCid);
        const taken = whoHas(world, addressesOf(networks));
        if (taken !== undefined) throw cloudError(`an address of the VM is in use by VM '${taken.cid}'`);
        for (const [name, { cloud_properties: properties }] of Object.entries(networks))
          if (typeof properties?.network_cid === "string" && !world.networks.has(properties.network_cid))
            throw cloudError(`the network '${properties.network_cid}' of '${name}' does not exist`);
        userData({ networks });
        const vm: SimVm = {
          cid,
          agentId,
          stemcell: stemcellCid,
          networks,
          metadata: {},
          agent: newAgentState(),
        };
        vm.agent.certificateUntil = certificateIn((env as { readonly bosh?: unknown }).bosh) ?? 0;
        vm.agent.trust = trustIn((env as { readonly bosh?: unknown }).bosh);
        world.vms.set(cid, vm);
        if (world.deafFromBirth) world.deaf.add(agentId);
        return { cid };
      },
      deleteVm: ({ vmCid }) => {
        const vm = theVm(world, vmCid);
        for (const disk of world.disks.values()) if (disk.attachedTo === vm.cid) disk.attachedTo = null;
        world.vms.delete(vm.cid);
      },
      hasVm: ({ vmCid }) => world.vms.has(vmCid),
      getVmLog: ({ vmCid }) => `agent ${theVm(world, vmCid).agentId} has begun\n`,
      listResources: () => ({
        vms: [...world.vms.values()].map((vm) => ({
          cid: vm.cid,
          agent_id: vm.agentId,
          stemcell_cid: vm.stemcell,
          networks: vm.networks,
          metadata: vm.metadata as JsonObject,
          disk_cids: [...world.disks.values()].flatMap(({ cid, attachedTo }) =>
            attachedTo === vm.cid ? [cid] : [],
          ),
        })),
        disks: [...world.disks.values()].map(({ cid, size, metadata }) => ({
          cid,
          size,
          metadata: (metadata ?? {}) as JsonObject,
        })),
      }),
      rebootVm: ({ vmCid }) => {
        const { agent, agentId } = theVm(world, vmCid);
        world.deaf.delete(agentId);
        // An agent that starts mounts the disks that it knows and finds.
        const linked = new Set(agent.links.values());
        const found = [...agent.hints.keys()].filter(
          (cid) => world.disks.get(cid)?.attachedTo === vmCid && !linked.has(cid),
        );
        agent.store = found[0] ?? null;
        agent.target = null;
      },
      setVmMetadata: ({ vmCid, metadata }) => {
        theVm(world, vmCid).metadata = metadata;
      },
      createDisk: ({ size }, { token }) => {
        const cid = `disk-${token}`;
        if (!world.disks.has(cid))
          world.disks.set(cid, { cid, size, data: null, files: new Map(), attachedTo: null });
        return cid;
      },
      deleteDisk: ({ diskCid }) => {
        const disk = theDisk(world, diskCid);
        if (disk.attachedTo !== null) {
          world.violate(`disk ${diskCid} was to be deleted while attached to ${disk.attachedTo}`);
          throw cloudError(`disk '${diskCid}' is attached to '${disk.attachedTo}'`);
        }
        const left = [...world.snapshots].filter(([, of]) => of === diskCid).map(([cid]) => cid);
        if (left.length > 0)
          world.violate(`disk ${diskCid} was deleted before its snapshots ${left.join(", ")}`);
        world.deleted.push(diskCid);
        world.disks.delete(diskCid);
      },
      hasDisk: ({ diskCid }) => world.disks.has(diskCid),
      attachDisk: ({ vmCid, diskCid }) => {
        const vm = theVm(world, vmCid);
        const disk = theDisk(world, diskCid);
        if (disk.attachedTo !== null && disk.attachedTo !== vm.cid)
          world.violate(
            `disk ${diskCid} is attached to ${disk.attachedTo} and was to be attached to ${vmCid}`,
          );
        if (disk.attachedTo !== null)
          throw cloudError(`disk '${diskCid}' is attached to '${disk.attachedTo}'`);
        disk.attachedTo = vm.cid;
        if (world.remakesVms) remade(vm);
        return { id: diskCid };
      },
      detachDisk: ({ vmCid, diskCid }) => {
        const vm = theVm(world, vmCid);
        const disk = theDisk(world, diskCid);
        if (disk.attachedTo !== vm.cid) throw diskNotAttached(vmCid, diskCid);
        if (vm.agent.store === diskCid || vm.agent.target === diskCid)
          world.violate(`disk ${diskCid} was detached from ${vmCid} while mounted`);
        if ([...vm.agent.links.values()].includes(diskCid) && !world.deaf.has(vm.agentId))
          world.violate(`disk ${diskCid} was detached from ${vmCid} while linked`);
        disk.attachedTo = null;
        if (world.remakesVms) remade(vm);
      },
      getDisks: ({ vmCid }) => {
        const vm = theVm(world, vmCid);
        return [...world.disks.values()].filter((disk) => disk.attachedTo === vm.cid).map(({ cid }) => cid);
      },
      setDiskMetadata: ({ diskCid, metadata }) => {
        theDisk(world, diskCid).metadata = metadata;
      },
      snapshotDisk: ({ diskCid }, { token }) => {
        theDisk(world, diskCid);
        const cid = `snapshot-${token}`;
        world.snapshots.set(cid, diskCid);
        return cid;
      },
      deleteSnapshot: ({ snapshotCid }) => {
        world.snapshots.delete(snapshotCid);
      },
      createNetwork: ({ definition }, { token }) => {
        const cid = `network-${token}`;
        const { range = freeRange(world, cid), gateway } = definition;
        if (range.startsWith(FORBIDDEN)) throw cloudError(`the range ${range} is somebody else's`);
        world.networks.set(cid, range);
        const first = range.replace(/0\/\d+$/, "");
        return {
          ...{ cid, range, gateway: gateway ?? `${first}1`, reserved: [`${first}2`] },
          cloudProperties: { network_cid: cid },
        };
      },
      deleteNetwork: ({ networkCid }) => {
        const inside = [...world.vms.values()].filter(({ networks }) => isIn(networks, networkCid));
        if (inside.length > 0) {
          world.violate(
            `network ${networkCid} was to be deleted with ${inside.map(({ cid }) => cid).join(", ")} in it`,
          );
          throw cloudError(`network '${networkCid}' has VMs in it`);
        }
        if (!world.networks.delete(networkCid)) throw networkNotFound(networkCid);
      },
      resizeDisk: ({ diskCid, newSize }) => {
        const disk = theDisk(world, diskCid);
        if (options.resizes !== true) throw notSupported("this cloud does not resize disks");
        if (disk.attachedTo !== null)
          throw cloudError(`disk '${diskCid}' is attached to '${disk.attachedTo}'`);
        disk.size = newSize;
      },
      updateDisk: ({ diskCid, newSize }) => {
        const made = `${diskCid}-of-${newSize}` as DiskCid;
        // A repeat is harmless: the disk goes by its new name already.
        if (world.disks.has(made)) return made;
        const disk = theDisk(world, diskCid);
        if (options.updates !== true) throw notSupported("this cloud does not update disks");
        if (disk.attachedTo !== null)
          throw cloudError(`disk '${diskCid}' is attached to '${disk.attachedTo}'`);
        world.disks.delete(diskCid);
        world.disks.set(made, { ...disk, cid: made, size: newSize });
        return made;
      },
    },
  });
}

/** Addresses of each VM, cached: of a thousand VMs each is looked up a thousand times. */
const known = new WeakMap<Networks, readonly string[]>();

/** Addresses that no two VMs may have at once. */
export function addressesOf(networks: Networks): readonly string[] {
  const found =
    known.get(networks) ??
    Object.values(networks).flatMap(({ ip, type }) => (ip === undefined || type === "vip" ? [] : [ip]));
  known.set(networks, found);
  return found;
}

const isIn = (networks: Networks, cid: string): boolean =>
  Object.values(networks).some(({ cloud_properties: properties }) => properties?.network_cid === cid);

/** The same again for the same network. */
function freeRange(world: SimWorld, cid: string): string {
  const mine = world.networks.get(cid);
  if (mine !== undefined) return mine;
  const taken = new Set(world.networks.values());
  for (let third = 0; ; third++) if (!taken.has(`10.7.${third}.0/24`)) return `10.7.${third}.0/24`;
}

const whoHas = (world: SimWorld, addresses: readonly string[]): SimVm | undefined =>
  [...world.vms.values()].find((vm) => addressesOf(vm.networks).some((one) => addresses.includes(one)));

function theVm(world: SimWorld, cid: string): SimVm {
  const vm = world.vms.get(cid);
  if (vm === undefined) throw vmNotFound(cid);
  return vm;
}

function theDisk(world: SimWorld, cid: string): SimDisk {
  const disk = world.disks.get(cid);
  if (disk === undefined) throw diskNotFound(cid);
  return disk;
}

/** The VM is another one with the same cid, as far as its agent can tell. */
function remade({ agent }: SimVm): void {
  agent.store = null;
  agent.target = null;
  agent.running = false;
  agent.hints.clear();
  agent.links.clear();
}
