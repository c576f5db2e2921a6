import type { InstanceRecord } from "@slipway/engine/model/records";
import type { SimWorld } from "./world.ts";

/** What the Director remembers, gathered from its store. */
export interface Remembered {
  readonly instances: readonly InstanceRecord[];
  readonly orphanDisks: readonly string[];
  readonly orphanedVms: readonly string[];
  /** The steps of open intents. */
  readonly openIntents: readonly string[];
  /** Cids they name: what became of these is found out when the intents are settled. */
  readonly unsure: ReadonlySet<string>;
  readonly strays: readonly string[];
  /** Tasks that have not ended. */
  readonly unfinished: readonly string[];
}

/** Everything that must hold once a Director is idle, whatever it went through. Empty: all is well. */
export function brokenInvariants(world: SimWorld, remembered: Remembered): readonly string[] {
  const broken = [...world.violations];
  const vms = remembered.instances.flatMap((instance) => instance.vms);
  const disks = remembered.instances.flatMap((instance) => instance.disks);
  const known = new Set([...vms.map(({ cid }) => String(cid)), ...remembered.orphanedVms]);
  const mayBeStray = remembered.openIntents.length + remembered.strays.length;

  const unknownVms = [...world.vms.keys()].filter((cid) => !known.has(cid));
  if (unknownVms.length > mayBeStray)
    broken.push(`VMs without a record, an open intent or a stray: ${unknownVms.join(", ")}`);
  for (const cid of known)
    if (!world.vms.has(cid) && !remembered.unsure.has(cid))
      broken.push(`VM ${cid} is recorded and does not exist`);

  const kept = new Set([...disks.map(({ cid }) => String(cid)), ...remembered.orphanDisks]);
  const unknownDisks = [...world.disks.keys()].filter((cid) => !kept.has(cid));
  if (unknownDisks.length > mayBeStray)
    broken.push(`disks without a record, an open intent or a stray: ${unknownDisks.join(", ")}`);
  for (const cid of kept)
    if (!world.disks.has(cid)) broken.push(`disk ${cid} is recorded and does not exist`);

  for (const disk of disks) {
    const real = world.disks.get(disk.cid);
    const unsure = [disk.cid, disk.attachedTo].some((cid) => cid !== null && remembered.unsure.has(cid));
    if (real === undefined || unsure) continue;
    if (real.attachedTo !== disk.attachedTo)
      broken.push(`disk ${disk.cid} is recorded on ${disk.attachedTo} and is on ${real.attachedTo}`);
    if (real.size !== disk.size)
      broken.push(`disk ${disk.cid} is recorded as ${disk.size}, has ${real.size}`);
  }
  // None of the flows deletes a disk: disks go to the orphan list, and from there only by a task of its own.
  for (const cid of world.deleted) broken.push(`disk ${cid} was deleted`);
  for (const task of remembered.unfinished) broken.push(`task ${task} has not ended`);
  return broken;
}
