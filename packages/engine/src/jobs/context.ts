import type { Json, JsonObject } from "@slipway/protocol/schema/json";
import type { Network } from "@slipway/protocol/settings/networks";
import type { DesiredInstance } from "../model/goal.ts";
import { addressOn, defaultNetwork, type Naming } from "./dns/address.ts";
import { longName } from "./dns/encoder.ts";
import type { PlacedJob } from "./model.ts";

/** Templates may be rendered before anybody knows the address: they read a valid one rather than none. */
const UNKNOWN_ADDRESS = "127.0.0.1";

/** Returns the context that all templates of an instance share. */
export function instanceContext(
  instance: DesiredInstance,
  jobs: readonly PlacedJob[],
  naming: Naming,
): JsonObject {
  const { group, uuid, index, bootstrap, az, networks, persistentDisk, namedDisks = [] } = instance;
  const listed = Object.entries(networks).map(([name, one]) => ({ name, default: one.default ?? [] }));
  const network = defaultNetwork(listed);
  return {
    deployment: naming.deployment,
    job: jobSpec(group, jobs),
    index,
    bootstrap,
    name: group,
    id: uuid,
    az,
    networks: Object.fromEntries(
      Object.entries(networks).map(([name, one]) => [name, networkContext(instance, name, one, naming)]),
    ),
    properties_need_filtering: true,
    dns_domain_name: naming.domain,
    // Named disks have a size each, so there is no single size.
    ...(namedDisks.length === 0 && { persistent_disk: persistentDisk?.size ?? 0 }),
    address:
      network === undefined ? null : addressOn(instance, network, naming, { preferDns: naming.useDns }),
    ip: (network === undefined ? undefined : networks[network]?.ip) ?? null,
  };
}

/** `job` of a spec: what upstream calls so is the group. */
function jobSpec(group: string, jobs: readonly PlacedJob[]): Json {
  const [first] = jobs;
  if (first === undefined) return null;
  return {
    name: group,
    template: first.known.name,
    version: first.known.version,
    templates: jobs.map(({ known: { name, version, digest, blobId, job } }) => ({
      name,
      version,
      sha1: digest,
      blobstore_id: blobId,
      ...(Object.keys(job.logs).length > 0 && { logs: job.logs }),
    })),
  };
}

function networkContext(instance: DesiredInstance, name: string, network: Network, naming: Naming): Json {
  const { deployment, domain } = naming;
  const unknown = network.type === "dynamic" ? UNKNOWN_ADDRESS : undefined;
  const { ip = unknown, netmask = unknown, gateway = unknown } = network;
  return {
    ...(network as JsonObject),
    ...(ip !== undefined && { ip }),
    ...(netmask !== undefined && { netmask }),
    ...(gateway !== undefined && { gateway }),
    dns_record_name: longName(instance.index, instance.group, name, deployment, domain),
  };
}

/** Returns the context of one job's templates. */
export const jobContext = (
  common: JsonObject,
  { properties, release }: PlacedJob,
  links: JsonObject,
): JsonObject => ({
  ...common,
  properties,
  links,
  release: { name: release.name, version: release.version },
});
