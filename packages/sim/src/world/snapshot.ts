import { newAgentState, type SimDisk, SimWorld } from "./world.ts";

/** A world of its own with the same content: what happens to one does not happen to the other. */
export function copyWorld(world: SimWorld): SimWorld {
  const copy = new SimWorld();
  for (const cid of world.stemcells) copy.stemcells.add(cid);
  for (const disk of world.disks.values())
    copy.disks.set(disk.cid, { ...disk, files: new Map(disk.files) } satisfies SimDisk);
  for (const vm of world.vms.values()) {
    const agent = { ...vm.agent, hints: new Map(vm.agent.hints) };
    copy.vms.set(vm.cid, { ...vm, agent: { ...newAgentState(), ...agent } });
  }
  copy.deleted.push(...world.deleted);
  for (const [method, fault] of world.faults) copy.faults.set(method, fault);
  copy.deafFromBirth = world.deafFromBirth;
  for (const agentId of world.deaf) copy.deaf.add(agentId);
  return copy;
}
