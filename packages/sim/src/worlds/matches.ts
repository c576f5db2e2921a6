import type { GroupSketch, ManifestSketch } from "../director/manifests.ts";
import type { Records } from "../judge/records.ts";
import type { SimWorld } from "../world/world.ts";
import { SIZES } from "./sketches.ts";

/** Returns where a deployment differs from its manifest after a deploy that succeeded. */
export function mismatches(sketch: ManifestSketch, world: SimWorld, records: Records): readonly string[] {
  return sketch.groups.flatMap((group) => {
    if (group.errand === true) return [];
    const found = records.instances.filter(
      (one) => one.deployment === sketch.name && one.group === group.name && !one.compilation,
    );
    if (found.length !== group.instances)
      return [`${sketch.name}/${group.name} has ${found.length} instances instead of ${group.instances}`];
    return found.flatMap(({ uuid, state }) => {
      const name = `${sketch.name}/${group.name}/${uuid}`;
      if (state !== "started") return [`${name} is ${state}`];
      return instanceMismatches(name, group, world, records).map((what) => `${name}: ${what}`);
    });
  });
}

function instanceMismatches(
  name: string,
  group: GroupSketch,
  world: SimWorld,
  records: Records,
): readonly string[] {
  const vms = records.vms.filter(({ instance }) => instance === name);
  const [vm] = vms;
  if (vm === undefined || vms.length > 1) return [`it has ${vms.length} VMs`];
  const real = world.vms.get(vm.cid);
  if (real === undefined) return [`its VM ${vm.cid} does not exist`];
  const held = records.addresses.filter(({ instance }) => instance === name);
  const wanted = group.disks ?? (group.disk === undefined ? {} : { "": group.disk });
  const disks = records.disks.filter(({ instance }) => instance === name);
  return [
    ...(real.agent.running ? [] : ["its jobs do not run"]),
    ...(world.deaf.has(real.agentId) ? ["its agent does not answer"] : []),
    ...(held.length === 1 ? [] : [`it holds the addresses ${held.map(({ address }) => address).join(", ")}`]),
    ...(disks.length === Object.keys(wanted).length
      ? []
      : [`it has ${disks.length} disks instead of ${Object.keys(wanted).length}`]),
    ...Object.entries(wanted).flatMap(([disk, type]) => {
      const own = disks.find((one) => one.name === disk);
      const { store, links } = real.agent;
      const isMounted = (disk === "" ? store : links.get(disk)) === own?.cid;
      return own !== undefined && own.size === SIZES[type] && own.attachedTo === vm.cid && isMounted
        ? []
        : [`disk '${disk}' of type ${type} is ${JSON.stringify(own)}, mounted: ${isMounted}`];
    }),
  ];
}
