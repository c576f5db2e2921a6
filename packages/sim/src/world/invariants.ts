import type { DiskRecord, InstanceRecord } from "@slipway/engine/model/records";
import { addressesOf } from "./sim-cpi.ts";
import type { SimWorld } from "./world.ts";

export type StrayKind = "vm" | "disk" | "stemcell" | "snapshot" | "network";

/** Records of the Director, gathered from its store. */
export interface DirectorRecords {
  readonly instances: readonly InstanceRecord[];
  readonly stemcells: readonly { readonly name: string; readonly version: string; readonly cid: string }[];
  readonly orphanDisks: readonly string[];
  readonly snapshots: readonly string[];
  readonly networks: readonly {
    readonly name: string;
    readonly ready: boolean;
    readonly orphaned: boolean;
    readonly deployments: readonly string[];
    readonly subnets: readonly { readonly name: string; readonly cid: string }[];
  }[];
  readonly orphanedVms: readonly string[];
  /** The steps of open intents. */
  readonly openIntents: readonly string[];
  /** Cids they name: what became of these is found out when the intents are settled. */
  readonly unsure: ReadonlySet<string>;
  readonly strays: readonly { readonly kind: StrayKind; readonly about: string }[];
  /** Tasks that have not ended. */
  readonly unfinished: readonly string[];
  /** Locks whose task has ended. */
  readonly leftLocks: readonly string[];
}

/** A certificate is issued again for a create_vm that is repeated: what is recorded may be a little later. */
const CERTIFICATE_SLACK_MS = 3_600_000;

/**
 * Everything that must hold once a Director is idle, whatever it went through. Empty: all is well. `mayDelete`: the disks
 * that a task was to delete.
 */
export function brokenInvariants(
  world: SimWorld,
  remembered: DirectorRecords,
  mayDelete: readonly string[] = [],
): readonly string[] {
  return [
    ...world.violations,
    ...existence(world, remembered),
    ...attachments(world, remembered),
    ...addresses(world),
    // A network in use lists its deployments; an unused one is orphaned.
    ...remembered.networks
      .filter(({ orphaned, deployments }) => orphaned !== (deployments.length === 0))
      .map(
        ({ name, deployments }) =>
          `network ${name} is used by [${deployments.join()}], and recorded otherwise`,
      ),
    ...certificates(world, remembered),
    // Disks go to the orphan list, and from there only by a task that names them.
    ...world.deleted.filter((cid) => !mayDelete.includes(cid)).map((cid) => `disk ${cid} was deleted`),
    ...remembered.unfinished.map((task) => `task ${task} has not ended`),
    ...remembered.leftLocks.map((lock) => `${lock} is held by a task that has ended`),
  ];
}

const CREATES: Readonly<Record<StrayKind, readonly string[]>> = {
  vm: ["create_vm"],
  disk: ["create_disk", "create_named_disk"],
  stemcell: ["create_stemcell"],
  snapshot: ["snapshot_disk", "snapshot_disks"],
  network: ["create_network"],
};

/** Checks that what exists is recorded, suspected or about to be settled, and that what is recorded exists. */
function existence(world: SimWorld, remembered: DirectorRecords): readonly string[] {
  const broken: string[] = [];
  const vms = remembered.instances.flatMap((instance) => instance.vms.map(({ cid }) => String(cid)));
  const disks = remembered.instances.flatMap((instance) => instance.disks.map(({ cid }) => String(cid)));
  const compare = (kind: StrayKind, real: Iterable<string>, recorded: readonly string[]) => {
    const known = new Set(recorded);
    const existing = new Set(real);
    const unknown = [...existing].filter((cid) => !known.has(cid));
    const mayBe =
      remembered.strays.filter((stray) => stray.kind === kind).length +
      remembered.openIntents.filter((step) => CREATES[kind].includes(step)).length;
    if (unknown.length > mayBe)
      broken.push(`${kind} without a record, an open intent or a stray: ${unknown.join(", ")}`);
    for (const cid of known)
      if (!existing.has(cid) && !remembered.unsure.has(cid))
        broken.push(`${kind} ${cid} is recorded and does not exist`);
  };
  compare("vm", world.vms.keys(), [...vms, ...remembered.orphanedVms]);
  compare("disk", world.disks.keys(), [...disks, ...remembered.orphanDisks]);
  compare("snapshot", world.snapshots.keys(), remembered.snapshots);
  compare(
    "network",
    world.networks.keys(),
    remembered.networks.flatMap(({ subnets }) => subnets.map(({ cid }) => cid)),
  );
  compare(
    "stemcell",
    world.stemcells,
    remembered.stemcells.map(({ cid }) => cid),
  );
  return broken;
}

function attachments(world: SimWorld, { instances, unsure }: DirectorRecords): readonly string[] {
  const broken: string[] = [];
  for (const disk of instances.flatMap((instance) => instance.disks)) {
    const real = world.disks.get(disk.cid);
    if (real === undefined || [disk.cid, disk.attachedTo].some((cid) => cid !== null && unsure.has(cid)))
      continue;
    if (real.attachedTo !== disk.attachedTo)
      broken.push(`disk ${disk.cid} is recorded on ${disk.attachedTo} and is on ${real.attachedTo}`);
    if (real.size !== disk.size)
      broken.push(`disk ${disk.cid} is recorded as ${disk.size}, has ${real.size}`);
    if (disk.mounted && !isInUse(world, disk))
      broken.push(`disk ${disk.cid} is recorded as in use, and the agent does not have it`);
  }
  return broken;
}

/** Linked under its name, or mounted. The other way round nothing is promised: what is in doubt is done again. */
function isInUse(world: SimWorld, { cid, name, attachedTo }: DiskRecord): boolean {
  const vm = world.vms.get(attachedTo ?? "");
  // An agent that does not answer may have been restarted since.
  if (vm === undefined || world.deaf.has(vm.agentId)) return true;
  const { links, store, target } = vm.agent;
  return name === undefined ? store === cid || target === cid : links.get(name) === cid;
}

function addresses(world: SimWorld): readonly string[] {
  const holders = new Map<string, string[]>();
  for (const { cid, networks } of world.vms.values())
    for (const address of addressesOf(networks)) holders.set(address, [...(holders.get(address) ?? []), cid]);
  return [...holders].flatMap(([address, cids]) =>
    cids.length > 1 ? [`address ${address} is used by ${cids.join(" and ")}`] : [],
  );
}

/** Checks that no recorded certificate lasts longer than the real one, which would not be renewed in time. */
function certificates(world: SimWorld, { instances }: DirectorRecords): readonly string[] {
  return instances
    .flatMap((instance) => instance.vms)
    .flatMap(({ cid, certificateUntil }) => {
      const real = world.vms.get(cid)?.agent.certificateUntil;
      if (real === undefined || certificateUntil === null) return [];
      return certificateUntil > real + CERTIFICATE_SLACK_MS
        ? [`the certificate of ${cid} is recorded as longer than it is`]
        : [];
    });
}
