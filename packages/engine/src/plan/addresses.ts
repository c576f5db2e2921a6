import type { Networks } from "@slipway/protocol/settings/networks";
import type { Report } from "../documents/problems.ts";
import type { Change } from "../model/goal.ts";
import { firstAddress, type InstanceRecord, type IpRecord, type VmRecord } from "../model/records.ts";
import { sameBody } from "../model/vm-suits.ts";
import { bodyChanges, type Known, networkChanges } from "./changes.ts";
import type { InstanceTemplate } from "./desired.ts";
import type { AddressAllocator, Holder } from "./ips.ts";
import type { PoolsByNetwork } from "./network-pools.ts";
import { addressesOf } from "./networks.ts";
import type { Placed } from "./placement.ts";
import { keepReservations, reportUnusable, reserveRest, type Settled, settle } from "./reservations.ts";

export interface Addressed extends Settled {
  /** Reasons to replace the VM. */
  readonly replace: readonly Change[];
  /** The replacement is made beside the old VM, with addresses of its own. */
  readonly swap: boolean;
}

/** The addresses of an instance, and whether its VM must go. The two hang together: a VM made beside another needs others. */
export function addressInstance(
  placed: Placed,
  instanceTemplate: InstanceTemplate,
  known: Known | undefined,
  {
    poolsByNetwork,
    allocator,
    report,
  }: {
    readonly poolsByNetwork: PoolsByNetwork;
    readonly allocator: AddressAllocator;
    readonly report: Report;
  },
  holder: Holder,
  maySwap: boolean,
): Addressed {
  const { recorded } = placed;
  const spares = (recorded?.vms ?? []).filter((vm) => !vm.active && sameBody(vm, instanceTemplate));
  const finish = (held: readonly IpRecord[]): Settled => {
    const kept = keepReservations(placed, poolsByNetwork, held);
    const settled = settle(
      placed,
      poolsByNetwork,
      reserveRest(placed, poolsByNetwork, kept, holder, allocator, report),
    );
    if (!settled.complete) reportUnusable(placed, settled, poolsByNetwork, report);
    return settled;
  };
  if (known === undefined) return addressed(finish(preferring(recorded, spares)), [], false);

  const body = bodyChanges(known, instanceTemplate);
  const held = preferring(recorded, [known.vm]);
  const provisional = settle(placed, poolsByNetwork, keepReservations(placed, poolsByNetwork, held));
  const settings = networkChanges(known, withAnother(placed, provisional.networks, known.vm.networks));
  if (maySwap && (body.length > 0 || settings.length > 0)) {
    const used = new Set(addressesOf(known.vm.networks));
    const unused = preferring(recorded, spares).filter((ip) => !used.has(firstAddress(ip)));
    return addressed(finish(unused), [...body, ...settings], true);
  }
  if (provisional.complete) return addressed(provisional, [...body, ...settings], false);
  const settled = finish(held);
  return addressed(settled, [...body, ...networkChanges(known, settled.networks)], false);
}

const addressed = (
  { networks, ips, complete }: Settled,
  replace: readonly Change[],
  swap: boolean,
): Addressed => ({ networks, ips, complete, replace, swap });

/** Stands for addresses yet to be found: enough to say what changes. */
function withAnother({ group }: Placed, networks: Networks, had: Networks): Networks {
  const missing = group.networks.filter(({ name }) => !Object.hasOwn(networks, name));
  const another = missing.map(({ name }) => [name, { type: "manual", ...had[name], ip: "another" }] as const);
  return another.length === 0 ? networks : { ...networks, ...Object.fromEntries(another) };
}

/** The addresses an instance holds, those of these VMs first. */
function preferring(recorded: InstanceRecord | undefined, vms: readonly VmRecord[]): readonly IpRecord[] {
  const held = recorded?.ips ?? [];
  if (held.length < 2) return held;
  const used = new Set(vms.flatMap((vm) => addressesOf(vm.networks)));
  const isUsed = (ip: IpRecord) => used.has(firstAddress(ip));
  return [...held.filter(isUsed), ...held.filter((ip) => !isUsed(ip))];
}
