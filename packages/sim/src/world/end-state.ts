import type { InstanceRecord, IpRecord } from "@slipway/engine/model/records";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { DirectorRecords } from "./invariants.ts";
import type { SimWorld } from "./world.ts";

/** Returns the end of a run without random names and addresses, so that two runs of one deploy can be compared. */
export function endState(world: SimWorld, remembered: DirectorRecords, kept: ReadonlySet<string>): object {
  const content = (data: string | null | undefined) => {
    if (data === null || data === undefined) return "empty";
    return kept.has(data) ? data : "new";
  };
  const inUse = new Set(
    remembered.instances.flatMap(({ disks }) => disks.map(({ cid }) => world.disks.get(cid)?.data)),
  );
  const instance = (one: InstanceRecord) => ({
    name: `${one.group}/${one.index}`,
    state: one.state,
    completed: one.updateCompleted,
    addresses: one.ips.map(({ network }) => network),
    itsOwn: one.vms.every(({ networks }) => sameAddresses(networks, one.ips)),
    vms: one.vms.map((vm) => {
      const real = world.vms.get(vm.cid);
      return {
        active: vm.active,
        ready: vm.ready,
        properties: vm.cloudProperties,
        persistent: Object.keys(vm.disks.persistent ?? {}).length,
        runs: real?.agent.running,
        installed: installedBy(real?.agent.spec),
        mounted: real === undefined ? 0 : [real.agent.store, real.agent.target].filter(Boolean).length,
        linked: [...(real?.agent.links.keys() ?? [])].sort(),
        told: real === undefined ? 0 : real.agent.hints.size,
        tagged: Object.keys(real?.metadata ?? {}).sort(),
      };
    }),
    disks: one.disks.map((disk) => ({
      name: disk.name ?? "",
      active: disk.active,
      size: disk.size,
      mounted: disk.mounted,
      attached: disk.attachedTo !== null,
      content: content(world.disks.get(disk.cid)?.data),
    })),
  });
  return {
    instances: remembered.instances
      .map(instance)
      .sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name))),
    // How many disks a way took does not count: what is nowhere else than on an orphan does.
    orphaned: remembered.orphanDisks
      .map((cid) => content(world.disks.get(cid)?.data))
      .filter((text) => kept.has(text) && !inUse.has(text))
      .sort(),
    networks: remembered.networks.map(({ subnets, ...network }) => ({
      ...network,
      // A range of the CPI's choice is another one where a stray has the first.
      subnets: subnets.map(({ name, cid }) => `${name} ${world.networks.has(cid)}`).sort(),
    })),
    openIntents: remembered.openIntents,
  };
}

/** Its jobs and packages: `web/1234`. */
function installedBy(spec: object | undefined): readonly string[] {
  const { job, packages } = (spec ?? {}) as {
    readonly job?: { readonly templates?: readonly Named[] };
    readonly packages?: Readonly<Record<string, Named>>;
  };
  return [...(job?.templates ?? []), ...Object.values(packages ?? {})].map(
    ({ name, version }) => `${name}/${version}`,
  );
}

interface Named {
  readonly name: string;
  readonly version: string;
}

const sameAddresses = (networks: Networks, ips: readonly IpRecord[]): boolean =>
  JSON.stringify(Object.values(networks).map(({ ip }) => ip)) ===
  JSON.stringify(ips.map(({ address }) => address));

/** Returns the differences of two end states: `instances.0.state: stopped instead of started`. */
export function differences(found: unknown, wanted: unknown, path = "end"): readonly string[] {
  if (Object.is(found, wanted)) return [];
  if (!isObject(found) || !isObject(wanted))
    return [`${path}: ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];
  const keys = new Set([...Object.keys(found), ...Object.keys(wanted)]);
  return [...keys].flatMap((key) => differences(found[key], wanted[key], `${path}.${key}`));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
