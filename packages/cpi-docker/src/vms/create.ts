import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import type { DockerCloudContext } from "../cloud-context.ts";
import { putFiles } from "../engine/archive.ts";
import { AddressRefused, DidNotStart, EngineRefused, NetworkRefused } from "../errors.ts";
import type { Labels } from "../labels.ts";
import { networkFor } from "../networks/networks.ts";
import type { ContainerNetworkPlan, NetworkRequest } from "../networks/plan.ts";
import { securityOf } from "../security.ts";
import { findUpstreamAgent } from "../upstream/find-agent.ts";
import { type FileSystem, startFiles } from "../upstream/scripts.ts";
import { findVm, removeContainer, startContainer } from "./containers.ts";
import type { VmProperties } from "./properties.ts";
import { containerSpec, endpointOf } from "./spec.ts";

export interface NewContainer {
  readonly cid: string;
  readonly agentId: string;
  readonly image: string;
  /** Command of the image. */
  readonly command: readonly string[];
  /** True if the stemcell's properties named the command. */
  readonly given: boolean;
  /** File system for disks, if the agent makes none itself. */
  readonly fileSystem: FileSystem;
  readonly plan: ContainerNetworkPlan;
  readonly properties: VmProperties;
  readonly labels: Labels;
  readonly networkLabels: Labels;
  readonly userData: string;
}

/** Paths where agents of Docker and Warden stemcells look for their settings, and old ones for the way to the registry. */
const SETTINGS = ["var/vcap/bosh/warden-cpi-agent-env.json", "var/vcap/bosh/warden-cpi-user-data.json"];

/** Most tries to make a container whose network is removed in the meantime. */
const MOST_TRIES = 5;

/** Makes and starts a container; its settings are in it before its first process is. */
export async function createVm(cloud: DockerCloudContext, vm: NewContainer): Promise<void> {
  if (await madeBefore(cloud, vm.cid)) return;
  for (let tries = 1; ; tries++) {
    try {
      return await make(cloud, vm);
    } catch (error) {
      // It was the last one's that was deleted in this moment.
      if (tries === MOST_TRIES || !lostItsNetwork(error)) throw reasonOf(error, vm);
      await removeContainer(cloud, vm.cid);
    }
  }
}

const lostItsNetwork = (error: unknown): boolean =>
  EngineRefused.is(error) && /network \S+ not found|could not find (a )?network/i.test(error.message);

async function make(cloud: DockerCloudContext, vm: NewContainer): Promise<void> {
  const [first, ...others] = await inOrder(cloud, vm);
  const { dns, gateway } = vm.plan;
  const order = { ...vm, dns, gateway, security: await securityOf(cloud), network: first };
  await makeContainer(cloud, vm.cid, containerSpec(order));
  // What is in the image can be seen in a container. Most often it is ours, and was made as it has to be.
  const upstream = await findUpstreamAgent(cloud, vm.cid, vm.given ? vm.command : undefined);
  if (upstream !== undefined) {
    await removeContainer(cloud, vm.cid);
    await makeContainer(cloud, vm.cid, containerSpec({ ...order, upstream }));
  }
  for (const { name, request } of others) await connect(cloud, vm.cid, name, endpointOf(request));
  const files = SETTINGS.map((name) => ({ name, content: vm.userData, mode: 0o600 }));
  const more = upstream === undefined ? [] : startFiles(upstream, { dns, fileSystem: vm.fileSystem });
  await putFiles(cloud.engine, vm.cid, [...files, ...more], `putting settings into '${vm.cid}'`);
  await startContainer(cloud, vm.cid, `starting '${vm.cid}'`);
}

async function makeContainer({ engine }: DockerCloudContext, cid: string, spec: object): Promise<void> {
  await engine.run({
    doing: `making the container '${cid}'`,
    method: "POST",
    path: "/containers/create",
    query: { name: cid },
    body: spec,
  });
}

/**
 * Reports whether an earlier run of this request made the VM. A VM is started last: one that was never started is
 * incomplete, and removed.
 */
async function madeBefore(cloud: DockerCloudContext, cid: string): Promise<boolean> {
  const found = await findVm(cloud, cid);
  if (found === undefined) return false;
  if (found.State.Status !== "created") return true;
  await removeContainer(cloud, cid);
  return false;
}

async function inOrder(
  cloud: DockerCloudContext,
  vm: NewContainer,
): Promise<{ readonly name: string; readonly request: NetworkRequest }[]> {
  const chosen: { name: string; request: NetworkRequest }[] = [];
  for (const request of vm.plan.requests) {
    const name = await networkFor(cloud, request, vm.networkLabels);
    const other = chosen.find((one) => one.name === name);
    if (other !== undefined)
      throw NetworkRefused({
        network: request.network,
        why: `it is the same Docker network (${name}) as '${other.request.network}', and a container is in one once`,
      });
    chosen.push({ name, request });
  }
  return chosen;
}

async function connect(
  { engine }: DockerCloudContext,
  cid: string,
  network: string,
  endpoint: object,
): Promise<void> {
  await engine.run({
    doing: `connecting '${cid}' with the network '${network}'`,
    method: "POST",
    path: `/networks/${network}/connect`,
    body: { Container: cid, EndpointConfig: endpoint },
  });
}

const IN_USE = /address already in use|ip address \S+ is already allocated/i;

/** The engine's refusal as the operator's problem, where it is one of the known. */
function reasonOf(error: unknown, { cid, plan }: NewContainer): unknown {
  if (!EngineRefused.is(error)) return error;
  const said = error.message;
  const request = plan.requests.find(({ ip }) => ip !== undefined && said.includes(ip)) ?? plan.requests[0];
  const address = { network: request?.network ?? "", ip: request?.ip ?? "(dynamic)" };
  if (IN_USE.test(said) && !/bind|listen|port/i.test(said))
    return AddressRefused({ ...address, why: "another container has it" }, { cause: error });
  if (/does not belong to any of this network|no configured subnet/i.test(said))
    return AddressRefused({ ...address, why: "it is not in the network's subnet" }, { cause: error });
  return DidNotStart({ cid, said: said.replace(/^.*the Docker Engine answers /, "") }, { cause: error });
}

/** Returns the file system that the operator wants on disks, or the agent's default. */
export const fileSystemIn = (env: unknown): FileSystem =>
  isObject(env) && (env as JsonObject).persistent_disk_fs === "xfs" ? "xfs" : "ext4";
