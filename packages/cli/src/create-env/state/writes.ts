import type { Writes } from "@slipway/engine/flows/journal";
import type { Random } from "@slipway/kernel/random";
import { WriteRefused } from "../errors.ts";
import type { OwnInstance, StateDocument } from "./document.ts";
import { takeId } from "./reconcile.ts";

/** The changes a step asks for, made in a draft of the state: upstream's keys and our records together. */
export function writesTo(draft: StateDocument, random: Random): Writes {
  const own = draft.slipway;
  const instance = (): OwnInstance => {
    if (own.instance === null) throw WriteRefused({ what: "there is no instance to change" });
    return own.instance;
  };
  const vm = (cid: string) =>
    instance().vms.find((one) => one.cid === cid) ?? refuse(`there is no VM ${cid} to change`);
  const disk = (cid: string) =>
    instance().disks.find((one) => one.cid === cid) ?? refuse(`there is no disk ${cid} to change`);
  const entry = (cid: string) =>
    draft.disks?.find((one) => one.cid === cid) ?? refuse(`there is no disk ${cid} to change`);

  return {
    addVm: (_, given) => {
      if (instance().vms.some(({ cid }) => cid === given.cid)) return;
      instance().vms.push({ ...structuredClone(given), id: takeId(own) } as OwnInstance["vms"][number]);
      draft.current_vm_cid = given.cid;
      const { name, version } = given.stemcell;
      draft.current_stemcell_id =
        draft.stemcells?.find((one) => one.name === name && one.version === version)?.id ?? "";
    },
    activateVm: (cid) => {
      vm(cid);
      for (const one of instance().vms) one.active = one.cid === cid;
    },
    updateVm: (cid, change) => Object.assign(vm(cid), defined(change)),
    removeVm: (cid) => {
      const { vms, disks } = instance();
      instance().vms = vms.filter((one) => one.cid !== cid);
      for (const one of disks)
        if (one.attachedTo === cid) Object.assign(one, { attachedTo: null, hint: null, mounted: false });
      if (draft.current_vm_cid !== cid) return;
      const left = instance().vms.at(-1);
      draft.current_vm_cid = left?.cid ?? "";
      if (left === undefined) draft.current_stemcell_id = "";
    },
    orphanVm: (cid) => refuse(`VM ${cid} cannot be left behind: nobody would delete it`),
    addDisk: (_, { cid, size, cloudProperties, cpi, active }) => {
      if (instance().disks.some((one) => one.cid === cid)) return;
      instance().disks.push({
        id: takeId(own),
        cid,
        size,
        cloudProperties: structuredClone(cloudProperties),
        cpi,
        active,
        attachedTo: null,
        hint: null,
        mounted: false,
      });
      draft.disks = [
        ...(draft.disks ?? []),
        { id: random.uuid(), cid, size, cloud_properties: cloudProperties },
      ];
    },
    updateDisk: (cid, change) => {
      Object.assign(disk(cid), defined(change));
      const { cid: newCid, size, cloudProperties } = change;
      Object.assign(entry(cid), defined({ cid: newCid, size, cloud_properties: cloudProperties }));
    },
    switchDisk: (cid) => {
      disk(cid);
      for (const one of instance().disks) one.active = one.cid === cid;
      draft.current_disk_id = entry(cid).id;
    },
    orphanDisk: (cid) => {
      disk(cid);
      instance().disks = instance().disks.filter((one) => one.cid !== cid);
      own.unusedDisks = [...new Set([...own.unusedDisks, cid])];
      if (draft.current_disk_id === entry(cid).id) draft.current_disk_id = "";
    },
    updateInstance: (_, change) => {
      const { updateCompleted, spec } = change;
      Object.assign(instance(), defined({ updateCompleted, spec }));
    },
    removeInstance: () => {
      const { vms, disks } = instance();
      if (vms.length > 0 || disks.length > 0) refuse("the instance still has a VM or a disk");
      own.instance = null;
    },
    addStray: (stray) => {
      const there = own.strays.some(({ requestId }) => requestId === stray.requestId);
      if (!there) own.strays.push({ ...stray } as (typeof own.strays)[number]);
    },
  };
}

function refuse(what: string): never {
  throw WriteRefused({ what });
}

const defined = (change: object) =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
