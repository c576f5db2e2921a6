import type { NetworkInterfaceInfo } from "node:os";
import type { Engine } from "@slipway/cpi-docker/engine/engine";
import { LABEL } from "@slipway/cpi-docker/labels";
import { isInRange } from "@slipway/kernel/ip-address";
import { json, mapOf, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";

const network = open({
  Name: v.string(),
  Id: v.string(),
  Labels: v.optional(v.nullable(mapOf(v.string()))),
  Containers: v.optional(v.nullable(mapOf(json()))),
  IPAM: v.optional(
    open({ Config: v.optional(v.nullable(v.array(open({ Subnet: v.optional(v.string()) })))) }),
  ),
});
type Network = v.InferOutput<typeof network>;

/** Addresses of a machine, as Node.js tells them. */
export type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/**
 * Describes what already has addresses of a range: a Docker network, or this machine. A network of exactly this range without
 * containers does not count: it is used again.
 */
export async function holderOfRange(
  engine: Engine,
  range: string,
  interfaces: Interfaces,
): Promise<string | undefined> {
  const call = { doing: "listing networks", method: "GET", path: "/networks" } as const;
  for (const { Id, Name } of await engine.json(v.array(network), call)) {
    // The engine lists a network's containers only if asked for that network. It may be gone by now.
    const found = await engine.find(network, { ...call, path: `/networks/${Id}` });
    if (found === undefined || !subnetsOf(found).some((subnet) => overlap(subnet, range))) continue;
    if (!isOurs(found, range)) return `the Docker network ${Name} (${subnetsOf(found).join(", ")})`;
    if (Object.keys(found.Containers ?? {}).length > 0) return `containers in the Docker network ${Name}`;
    // Its bridge has an address of this machine.
    return undefined;
  }
  for (const [name, addresses] of Object.entries(interfaces))
    for (const { cidr } of addresses ?? [])
      if (cidr !== null && overlap(cidr, range)) return `this machine's own network ${name} (${cidr})`;
  return undefined;
}

const subnetsOf = ({ IPAM }: Network): readonly string[] =>
  (IPAM?.Config ?? []).flatMap(({ Subnet }) => (Subnet === undefined ? [] : [Subnet]));

const isOurs = (found: Network, range: string): boolean =>
  found.Labels?.[LABEL.kind] === "network" && subnetsOf(found).every((subnet) => subnet === range);

/** Returns true if one range contains the other; ranges never overlap in part. */
export function overlap(one: string, other: string): boolean {
  const start = (range: string) => range.split("/")[0] ?? "";
  return isInRange(one, start(other)) || isInRange(other, start(one));
}
