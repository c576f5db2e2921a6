import { cloudError, networkNotFound } from "@slipway/cpi-sdk/errors";
import { isInRange } from "@slipway/kernel/ip-address";
import { mapOf, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { type DockerCloudContext, isPlain } from "../cloud-context.ts";
import { refused } from "../engine/engine.ts";
import { textOf } from "../engine/http.ts";
import { AddressRefused, EngineRefused, NetworkRefused } from "../errors.ts";
import { LABEL, type Labels } from "../labels.ts";
import type { NetworkRequest } from "./plan.ts";

const network = open({
  Name: v.string(),
  Id: v.string(),
  Labels: v.optional(v.nullable(mapOf(v.string()))),
  IPAM: v.optional(
    open({
      Config: v.optional(
        v.nullable(v.array(open({ Subnet: v.optional(v.string()), Gateway: v.optional(v.string()) }))),
      ),
    }),
  ),
});
export type DockerNetwork = v.InferOutput<typeof network>;

/** Marks a network that was made for a VM, and may go when no container is in it. */
const FOR_A_VM = "for-a-vm";

/** These are the engine's own, and take no fixed addresses. */
const BUILT_IN = ["bridge", "host", "none"];

const findNetwork = ({ engine }: DockerCloudContext, name: string): Promise<DockerNetwork | undefined> =>
  engine.find(network, {
    doing: `looking for the network '${name}'`,
    method: "GET",
    path: `/networks/${name}`,
  });

const allNetworks = ({ engine }: DockerCloudContext): Promise<readonly DockerNetwork[]> =>
  engine.json(v.array(network), { doing: "listing networks", method: "GET", path: "/networks" });

const subnetsOf = ({ IPAM }: DockerNetwork): readonly string[] =>
  (IPAM?.Config ?? []).flatMap(({ Subnet }) => (Subnet === undefined ? [] : [Subnet]));

/** The name of the Docker network for a requested network; made where a range has none yet. */
export async function networkFor(
  cloud: DockerCloudContext,
  request: NetworkRequest,
  labels: Labels,
): Promise<string> {
  const { ip, named } = request;
  if (named !== undefined) return await namedNetwork(cloud, request, named);
  if (ip === undefined) return await namedNetwork(cloud, request, cloud.config.network);
  const since = cloud.clock.monotonic();
  for (;;) {
    const found = await networkOf(cloud, ip);
    if (found !== undefined) return found;
    if (request.range === undefined)
      throw NetworkRefused({
        network: request.network,
        why: `no Docker network has ${ip} in a subnet, and none can be made without a netmask`,
      });
    try {
      return await makeNetwork(cloud, nameFor(request.range), request, { ...labels, [LABEL.made]: FOR_A_VM });
    } catch (error) {
      if (!EngineRefused.is(error)) throw error;
      // Another call may be making or removing it in this moment: the engine refuses a range that it does not show.
      if (cloud.clock.monotonic() - since > SETTLES_WITHIN_MS)
        throw NetworkRefused({ network: request.network, why: error.message }, { cause: error });
      await cloud.clock.sleep(100);
    }
  }
}

const SETTLES_WITHIN_MS = 5000;

/** Names of Docker networks have no colons. */
const nameFor = (range: string): string => `slipway-${range.replaceAll(":", "_").replace("/", "-")}`;

/** Names of the networks that may have been made for these. */
export const madeFor = (requests: readonly NetworkRequest[]): readonly string[] =>
  requests.flatMap(({ range }) => (range === undefined ? [] : [nameFor(range)]));

async function networkOf(cloud: DockerCloudContext, ip: string): Promise<string | undefined> {
  const usable = (await allNetworks(cloud)).filter(({ Name }) => !BUILT_IN.includes(Name));
  return usable.find((one) => subnetsOf(one).some((subnet) => isInRange(subnet, ip)))?.Name;
}

async function namedNetwork(
  cloud: DockerCloudContext,
  request: NetworkRequest,
  name: string,
): Promise<string> {
  const found = await findNetwork(cloud, name);
  if (found === undefined)
    throw NetworkRefused({ network: request.network, why: `the engine has no network named ${name}` });
  if (request.ip === undefined) return found.Name;
  const subnets = subnetsOf(found);
  if (BUILT_IN.includes(found.Name) || subnets.length === 0)
    throw NetworkRefused({
      network: request.network,
      why: `the Docker network ${name} has no fixed addresses, and ${request.ip} is asked for`,
    });
  const { ip } = request;
  if (!subnets.some((subnet) => isInRange(subnet, ip)))
    throw AddressRefused({
      network: request.network,
      ip,
      why: `the Docker network ${name} has ${subnets.join(", ")}`,
    });
  return found.Name;
}

async function makeNetwork(
  { engine }: DockerCloudContext,
  name: string,
  { range, gateway }: { readonly range: string | undefined; readonly gateway: string | undefined },
  labels: Labels,
): Promise<string> {
  const config =
    range === undefined ? [] : [{ Subnet: range, ...(gateway !== undefined && { Gateway: gateway }) }];
  await engine.run({
    doing: `making the network '${name}'`,
    method: "POST",
    path: "/networks/create",
    // Engines before 25 let two networks have one name.
    body: {
      Name: name,
      CheckDuplicate: true,
      Driver: "bridge",
      ...(range?.includes(":") && { EnableIPv6: true }),
      IPAM: { Config: config },
      Labels: { ...labels, [LABEL.cid]: name },
    },
  });
  return name;
}

export interface NetworkSubnet {
  readonly range: string | undefined;
  readonly gateway: string | undefined;
}

/** With the range that was asked for, or one of the engine's choice. */
export async function createNetwork(
  cloud: DockerCloudContext,
  cid: string,
  order: NetworkSubnet,
  labels: Labels,
): Promise<NetworkSubnet> {
  if ((await findNetwork(cloud, cid)) === undefined)
    await makeNetwork(cloud, cid, order, labels).catch((error: unknown) => {
      if (EngineRefused.is(error))
        throw NetworkRefused({ network: cid, why: error.message }, { cause: error });
      throw error;
    });
  const configs = (await findNetwork(cloud, cid))?.IPAM?.Config ?? [];
  // The engine adds an IPv4 range to one of IPv6.
  const first = configs.find(({ Subnet }) => Subnet === order.range) ?? configs[0];
  return {
    range: first?.Subnet ?? order.range,
    gateway: first?.Gateway?.replace(/\/\d+$/, "") ?? order.gateway,
  };
}

/** Only one that create_network made. By its name: by its id, podman deletes one that has VMs in it. */
export async function removeNetwork(cloud: DockerCloudContext, cid: string): Promise<void> {
  const found = isPlain(cid) ? await findNetwork(cloud, cid) : undefined;
  if (found?.Labels?.[LABEL.kind] !== "network" || found.Name !== cid) throw networkNotFound(cid);
  const doing = `deleting the network '${cid}'`;
  const reply = await cloud.engine.attempt({ doing, method: "DELETE", path: `/networks/${found.Name}` });
  if (!refused(reply)) return void (await textOf(reply));
  if (reply.status === 404) throw networkNotFound(cid);
  if (/active endpoints|associated containers/.test(reply.said))
    throw cloudError(`network '${cid}' has VMs in it; delete them first (${reply.said})`);
  throw EngineRefused({ doing, ...reply });
}

const listed = v.array(open({ Id: v.string() }));

/**
 * After a VM is gone: of the networks it was in, those that were made for VMs and have no container any more, also none
 * that is off. The engine itself refuses where one runs. One that is just being made in there is told that the network is
 * gone, and makes it again.
 */
export async function removeUnused(cloud: DockerCloudContext, names: readonly string[]): Promise<void> {
  const { engine } = cloud;
  for (const name of names) {
    const found = await findNetwork(cloud, name);
    if (found?.Labels?.[LABEL.kind] !== "network" || found.Labels[LABEL.made] !== FOR_A_VM) continue;
    const doing = `removing the network '${name}'`;
    // Those that never ran know it by its name alone.
    const filters = JSON.stringify({ network: [found.Name, found.Id] });
    const query = { all: "true", filters };
    const inside = await engine.json(listed, { doing, method: "GET", path: "/containers/json", query });
    if (inside.length > 0) continue;
    const reply = await engine.attempt({ doing, method: "DELETE", path: `/networks/${found.Name}` });
    if (!refused(reply)) await textOf(reply);
  }
}
