import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StemcellOfCloud } from "@slipway/cpi-sdk/certify-adapter";
import { mustRun, systemExec } from "@slipway/kernel/exec";
import type { AgentAge } from "../matrix/contract.ts";

/** Documents that are deployed in every mix: one instance with a disk. JSON, which is YAML too. */

export const GROUP = "db";
export type MixDiskType = "small" | "large";
/** MiB. */
const SIZES: Readonly<Record<MixDiskType, number>> = { small: 16, large: 32 };

/** `net`: three numbers of an address range that is this Director's alone. */
export const cloudConfig = (net: string): string =>
  JSON.stringify({
    azs: [{ name: "z1" }],
    vm_types: [{ name: "default", cloud_properties: {} }],
    disk_types: [
      { name: "small", disk_size: SIZES.small },
      { name: "large", disk_size: SIZES.large },
    ],
    networks: [
      {
        name: "private",
        type: "manual",
        subnets: [{ range: `${net}.0/24`, gateway: `${net}.1`, azs: ["z1"] }],
      },
    ],
    compilation: { workers: 1, network: "private", az: "z1", vm_type: "default" },
  });

export const manifest = (name: string, stemcell: string, disk: MixDiskType, agent: AgentAge): string =>
  JSON.stringify({
    name,
    releases: [],
    stemcells: [{ alias: "default", name: stemcell, version: "latest" }],
    update: { canaries: 1, max_in_flight: 1, canary_watch_time: "1-30000", update_watch_time: "1-30000" },
    instance_groups: [
      {
        name: GROUP,
        instances: 1,
        azs: ["z1"],
        vm_type: "default",
        stemcell: "default",
        networks: [{ name: "private" }],
        jobs: [],
        persistent_disk_type: disk,
        // Our agent of today, unless it is to be an old one.
        ...(agent !== "v2" && { env: { bosh: { agent: { acts_as: agent } } } }),
      },
    ],
  });

export interface EnvOrder {
  readonly name: string;
  /** A file. */
  readonly stemcell: string;
  readonly disk: MixDiskType;
  readonly agent: AgentAge;
  /** Three numbers of an address range, and an address in it. */
  readonly range: string;
  readonly ip: string;
  readonly cpi: string;
  readonly cpiConfig: string;
  readonly mbus: string;
}

/**
 * Returns the same for `create-env`. Its certificates are variables, so that a client with the variables can ask the
 * agent.
 */
export const envManifest = (order: EnvOrder): string => {
  const { name, stemcell, disk, agent, range, ip } = order;
  return JSON.stringify({
    name,
    variables: [
      { name: "ca", type: "certificate", options: { is_ca: true, common_name: "ca" } },
      {
        name: "mbus_tls",
        type: "certificate",
        options: { ca: "ca", common_name: ip, alternative_names: [ip] },
      },
    ],
    resource_pools: [
      {
        name: "vms",
        network: "private",
        stemcell: { url: `file://${stemcell}` },
        cloud_properties: {},
        env: agent === "v2" ? {} : { bosh: { agent: { acts_as: agent } } },
      },
    ],
    disk_pools: [{ name: "disks", disk_size: SIZES[disk], cloud_properties: {} }],
    networks: [
      {
        name: "private",
        type: "manual",
        subnets: [{ range: `${range}.0/24`, gateway: `${range}.1`, dns: [] }],
      },
    ],
    instance_groups: [
      {
        name: GROUP,
        instances: 1,
        jobs: [],
        resource_pool: "vms",
        persistent_disk_pool: "disks",
        networks: [{ name: "private", static_ips: [ip] }],
      },
    ],
    cloud_provider: {
      cpi: { exec_path: order.cpi, config_file: order.cpiConfig },
      mbus: order.mbus,
      cert: "((mbus_tls))",
    },
  });
};

/** A stemcell for this cloud, whose agent is said to be of this age. */
export async function makeStemcell(
  dir: string,
  name: string,
  apiVersion: number,
  { image, operatingSystem, formats, cloudProperties }: StemcellOfCloud,
): Promise<Uint8Array> {
  const parts = join(dir, name);
  await mkdir(parts, { recursive: true });
  await writeFile(join(parts, "image"), image);
  await writeFile(
    join(parts, "stemcell.MF"),
    JSON.stringify({
      name,
      version: "1.0",
      operating_system: operatingSystem,
      sha1: createHash("sha1").update(image).digest("hex"),
      api_version: apiVersion,
      stemcell_formats: formats,
      cloud_properties: cloudProperties,
    }),
  );
  const file = `${parts}.tgz`;
  await mustRun(systemExec, "packing a stemcell", "tar", ["-czf", file, "-C", parts, "stemcell.MF", "image"]);
  return await readFile(file);
}
