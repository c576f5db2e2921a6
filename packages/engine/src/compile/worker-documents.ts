import type { JsonObject } from "@slipway/protocol/schema/json";
import { isObject } from "@slipway/protocol/schema/json";
import type { CloudConfig, InstanceGroup, Manifest } from "../manifest/model.ts";
import type { GroupName } from "../model/names.ts";

export interface Compilation {
  readonly workers: number;
  /** A VM is used for one package after the other. */
  readonly reuse: boolean;
  /** True if worker VMs are orphaned, and deleted later by the cleanup of orphaned VMs. */
  readonly orphan: boolean;
}

/** The section was checked with the rest of the cloud config. */
export function compilationOf({ compilation = {} }: CloudConfig): Compilation {
  const { workers } = compilation;
  return {
    workers: typeof workers === "number" ? workers : 1,
    reuse: compilation.reuse_compilation_vms === true,
    orphan: compilation.orphan_workers === true,
  };
}

const VM_TYPE = "compilation";

/** A manifest that wants one VM to compile on, and nothing else: it is planned as any other. */
export function workerDocuments(
  manifest: Manifest,
  cloudConfig: CloudConfig,
  group: GroupName,
  stemcellAlias: string,
): { readonly manifest: Manifest; readonly cloudConfig: CloudConfig } {
  const given = cloudConfig.compilation ?? {};
  const text = (key: string): string | undefined =>
    typeof given[key] === "string" ? (given[key] as string) : undefined;
  const object = (key: string): JsonObject => (isObject(given[key]) ? (given[key] as JsonObject) : {});
  const az = text("az");
  const plain = text("vm_type") === undefined && given.vm_resources === undefined;
  const worker: InstanceGroup = {
    name: group,
    instances: 1,
    azs: az === undefined ? undefined : [az],
    lifecycle: "service",
    vmType: plain ? VM_TYPE : text("vm_type"),
    vmResources:
      given.vm_resources === undefined
        ? undefined
        : (object("vm_resources") as unknown as InstanceGroup["vmResources"]),
    vmExtensions: Array.isArray(given.vm_extensions) ? given.vm_extensions.map(String) : [],
    stemcell: stemcellAlias,
    persistentDisk: undefined,
    networks: [{ name: text("network") ?? "", staticIps: [], default: ["dns", "gateway"] }],
    update: { ...manifest.update, canaries: { count: 0 }, vmStrategy: "delete-create" },
    migratedFrom: [],
    env: object("env"),
    tags: {},
    jobs: [],
    properties: {},
  };
  const vmTypes = plain
    ? [
        ...cloudConfig.vmTypes.filter(({ name }) => name !== VM_TYPE),
        { name: VM_TYPE, cloudProperties: object("cloud_properties") },
      ]
    : cloudConfig.vmTypes;
  return { manifest: { ...manifest, groups: [worker] }, cloudConfig: { ...cloudConfig, vmTypes } };
}
