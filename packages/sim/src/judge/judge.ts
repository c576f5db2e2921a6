import type { SimWorld } from "../world/world.ts";
import type { Records } from "./records.ts";

const CREATES: Readonly<Record<string, readonly string[]>> = {
  vm: ["create_vm"],
  disk: ["create_disk", "create_named_disk"],
  stemcell: ["create_stemcell"],
  snapshot: ["snapshot_disk"],
  network: ["create_network"],
};

export interface JudgeOptions {
  /** Blobs that are there. Undefined: blobs are not judged. */
  readonly blobs?: ReadonlySet<string> | undefined;
}

/**
 * Returns what is wrong between the cloud and the database once the Director is idle. Reads both by itself: no code of the
 * Director takes part. Empty: nothing is wrong.
 */
export function judge(world: SimWorld, records: Records, { blobs }: JudgeOptions = {}): readonly string[] {
  return [
    ...world.violations,
    ...existence(world, records),
    ...disks(world, records),
    ...addresses(world, records),
    ...records.vms.flatMap(({ cid }) => {
      const stemcell = world.vms.get(cid)?.stemcell;
      return stemcell === undefined || world.stemcells.has(stemcell)
        ? []
        : [`stemcell ${stemcell} is gone, and VM ${cid} was made of it`];
    }),
    ...records.tasks
      .filter(({ state }) => ["queued", "processing", "cancelling"].includes(state))
      .map(({ id, type, state }) => `task ${id} (${type}) is still ${state}`),
    ...records.locks.map((name) => `${name} is held by a task that has ended`),
    ...(blobs === undefined
      ? []
      : records.blobs
          .filter((id) => !blobs.has(id))
          .map((id) => `blob ${id} is recorded and does not exist`)),
  ];
}

/** Recorded means that it exists; what exists is recorded, open or a stray. */
function existence(world: SimWorld, records: Records): readonly string[] {
  const broken: string[] = [];
  const compare = (kind: string, real: Iterable<string>, recorded: readonly string[]) => {
    const known = new Set(recorded);
    const existing = new Set(real);
    // A resource that an intent names or a task has claimed may be deleted already.
    const isOpen = (cid: string) =>
      records.claimed.includes(cid) || records.intents.some(({ text }) => text.includes(`"${cid}"`));
    if (known.size < recorded.length)
      broken.push(`a ${kind} is recorded twice: ${[...recorded].sort().join(", ")}`);
    for (const cid of known)
      if (!existing.has(cid) && !isOpen(cid)) broken.push(`${kind} ${cid} is recorded and does not exist`);
    const unknown = [...existing].filter((cid) => !known.has(cid) && !isOpen(cid));
    const excused =
      records.strays.filter((stray) => stray.kind === kind).length +
      records.intents.filter(({ step }) => CREATES[kind]?.includes(step)).length;
    if (unknown.length > excused)
      broken.push(`${kind} without a record, an open intent or a stray: ${unknown.join(", ")}`);
  };
  compare("vm", world.vms.keys(), [...records.vms.map(({ cid }) => cid), ...records.orphanedVms]);
  compare("disk", world.disks.keys(), [...records.disks.map(({ cid }) => cid), ...records.orphanDisks]);
  compare(
    "stemcell",
    world.stemcells,
    records.stemcells.map(({ cid }) => cid),
  );
  compare(
    "snapshot",
    world.snapshots.keys(),
    records.snapshots.map(({ cid }) => cid),
  );
  compare("network", world.networks.keys(), records.subnets);
  return broken;
}

/** A disk is attached where it is recorded, and has the size that is recorded. */
function disks(world: SimWorld, records: Records): readonly string[] {
  return records.disks.flatMap(({ cid, size, attachedTo }) => {
    const real = world.disks.get(cid);
    const isOpen = records.intents.some(
      ({ text }) => text.includes(`"${cid}"`) || (attachedTo !== null && text.includes(`"${attachedTo}"`)),
    );
    if (real === undefined || isOpen) return [];
    return [
      ...(real.attachedTo === attachedTo
        ? []
        : [`disk ${cid} is recorded on ${attachedTo} and is on ${real.attachedTo}`]),
      ...(real.size === size ? [] : [`disk ${cid} is recorded with ${size} MB and has ${real.size}`]),
    ];
  });
}

/** Each address has one VM in the cloud and one holder in the database, and a recorded VM's address is reserved for it. */
function addresses(world: SimWorld, records: Records): readonly string[] {
  const broken: string[] = [];
  const users = new Map<string, string>();
  for (const { cid, networks } of world.vms.values())
    for (const { ip, type } of Object.values(networks)) {
      if (ip === undefined || type === "vip") continue;
      const other = users.get(ip);
      if (other !== undefined) broken.push(`address ${ip} is used by ${other} and ${cid}`);
      users.set(ip, cid);
    }
  const holders = new Map(records.addresses.map(({ address, instance }) => [address, instance]));
  for (const { cid, instance, addresses: own } of records.vms)
    for (const address of own)
      if (holders.get(address) !== instance)
        broken.push(`address ${address} of VM ${cid} of ${instance} is held by ${holders.get(address)}`);
  return broken;
}
