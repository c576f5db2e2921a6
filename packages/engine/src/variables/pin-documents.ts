import type { JsonObject } from "@slipway/protocol/schema/json";
import type { CloudConfig, CloudNetwork, InstanceGroup, Manifest } from "../manifest/model.ts";
import { pin } from "./pins.ts";
import type { ResolveOptions } from "./resolve.ts";

export interface Documents {
  readonly manifest: Manifest;
  readonly cloudConfig: CloudConfig;
}

/**
 * Replaces placeholders by pins in the env of groups, and in the cloud properties that they use: values stand only in CPI
 * calls. Reports all missing variables together; unused parts are not looked at.
 */
export async function pinDocuments(
  { manifest, cloudConfig }: Documents,
  options: ResolveOptions,
): Promise<Documents> {
  const { groups, releases } = manifest;
  const compiles = releases.length > 0 ? (cloudConfig.compilation ?? null) : null;
  // Compilation VMs may use types that no group uses.
  const own = (key: string) => [compiles?.[key] ?? []].flat().map(String);
  const [azs, types, extensions, diskTypes, networks] = [
    new Set([...groups.flatMap((group) => group.azs ?? []), ...own("az")]),
    new Set([...groups.map((group) => group.vmType), ...own("vm_type")]),
    new Set([...groups.flatMap((group) => group.vmExtensions), ...own("vm_extensions")]),
    new Set(groups.flatMap(diskTypesOf)),
    new Set([...groups.flatMap((group) => group.networks.map(({ name }) => name)), ...own("network")]),
  ];
  const used = <T extends { readonly name: string; readonly cloudProperties: JsonObject }>(
    all: readonly T[],
    names: ReadonlySet<string | undefined>,
  ) => all.map(({ name, cloudProperties }) => (names.has(name) ? cloudProperties : null));
  const raw = {
    env: groups.map(({ env }) => env),
    azs: used(cloudConfig.azs, azs),
    types: used(cloudConfig.vmTypes, types),
    extensions: used(cloudConfig.vmExtensions, extensions),
    diskTypes: used(cloudConfig.diskTypes, diskTypes),
    networks: cloudConfig.networks.map((one) => (networks.has(one.name) ? propertiesOf(one) : null)),
    compilation: compiles?.cloud_properties ?? null,
  };
  const done: typeof raw = await pin(raw, options);
  if (done === raw) return { manifest, cloudConfig };
  const withPins = <T extends { readonly cloudProperties: JsonObject }>(
    all: readonly T[],
    pinned: readonly (JsonObject | null)[],
  ) => all.map((one, at) => ({ ...one, cloudProperties: pinned[at] ?? one.cloudProperties }));
  return {
    manifest: {
      ...manifest,
      groups: groups.map((group, at) => ({ ...group, env: done.env[at] ?? group.env })),
    },
    cloudConfig: {
      ...cloudConfig,
      azs: withPins(cloudConfig.azs, done.azs),
      vmTypes: withPins(cloudConfig.vmTypes, done.types),
      vmExtensions: withPins(cloudConfig.vmExtensions, done.extensions),
      diskTypes: withPins(cloudConfig.diskTypes, done.diskTypes),
      networks: cloudConfig.networks.map((one, at) => withProperties(one, done.networks[at] ?? null)),
      compilation:
        done.compilation === null
          ? cloudConfig.compilation
          : { ...cloudConfig.compilation, cloud_properties: done.compilation },
    },
  };
}

interface NetworkProperties extends JsonObject {
  readonly own: JsonObject;
  readonly subnets: readonly JsonObject[];
}

const propertiesOf = (network: CloudNetwork): NetworkProperties =>
  network.type === "vip"
    ? { own: network.cloudProperties, subnets: [] }
    : { own: {}, subnets: network.subnets.map(({ cloudProperties }) => cloudProperties) };

function withProperties(network: CloudNetwork, pinned: NetworkProperties | null): CloudNetwork {
  if (pinned === null) return network;
  if (network.type === "vip") return { ...network, cloudProperties: pinned.own };
  const at = (index: number, before: JsonObject) => pinned.subnets[index] ?? before;
  if (network.type === "manual")
    return {
      ...network,
      subnets: network.subnets.map((one, i) => ({ ...one, cloudProperties: at(i, one.cloudProperties) })),
    };
  return {
    ...network,
    subnets: network.subnets.map((one, i) => ({ ...one, cloudProperties: at(i, one.cloudProperties) })),
  };
}

const diskTypesOf = ({ persistentDisk: disk, persistentDisks = [] }: InstanceGroup): readonly string[] => [
  ...(disk !== undefined && "type" in disk ? [disk.type] : []),
  ...persistentDisks.map(({ type }) => type),
];
