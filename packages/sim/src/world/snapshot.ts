import { newAgentState, type SimDisk, SimWorld } from "./world.ts";

/** A world of its own with the same content: what happens to one does not happen to the other. */
export function copyWorld(world: SimWorld): SimWorld {
  const copy = new SimWorld();
  for (const cid of world.stemcells) copy.stemcells.add(cid);
  for (const [cid, disk] of world.snapshots) copy.snapshots.set(cid, disk);
  for (const [cid, range] of world.networks) copy.networks.set(cid, range);
  for (const disk of world.disks.values())
    copy.disks.set(disk.cid, { ...disk, files: new Map(disk.files) } satisfies SimDisk);
  for (const vm of world.vms.values()) {
    const { hints, links, sshUsers, errands, blobs, unpacked } = vm.agent;
    const own = {
      hints: new Map(hints),
      links: new Map(links),
      sshUsers: new Set(sshUsers),
      errands: [...errands],
      blobs: new Map(blobs),
      unpacked: new Set(unpacked),
    };
    const agent = { ...vm.agent, ...own };
    copy.vms.set(vm.cid, { ...vm, agent: { ...newAgentState(), ...agent } });
  }
  for (const [cid, cpi] of world.madeBy) copy.madeBy.set(cid, cpi);
  copy.deleted.push(...world.deleted);
  copy.violations.push(...world.violations);
  for (const [method, fault] of world.faults) copy.faults.set(method, fault);
  for (const name of world.uncompilable) copy.uncompilable.add(name);
  copy.compilations.push(...world.compilations);
  copy.bus = world.bus;
  for (const id of world.authorities) copy.authorities.add(id);
  copy.deafFromBirth = world.deafFromBirth;
  copy.copyFails = world.copyFails;
  copy.generation = world.generation;
  for (const agentId of world.deaf) copy.deaf.add(agentId);
  return copy;
}
