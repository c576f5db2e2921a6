import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StemcellOfCloud } from "@slipway/cpi-sdk/certify-adapter";
import { mustRun, systemExec } from "@slipway/kernel/exec";

/** What is deployed in every mix: one instance with a disk. JSON, which is YAML too. */

export const GROUP = "db";
export type DiskType = "small" | "large";

/** `net`: three numbers of an address range that is this Director's alone. */
export const cloudConfig = (net: string): string =>
  JSON.stringify({
    azs: [{ name: "z1" }],
    vm_types: [{ name: "default", cloud_properties: {} }],
    disk_types: [
      { name: "small", disk_size: 16 },
      { name: "large", disk_size: 32 },
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

export const manifest = (name: string, stemcell: string, disk: DiskType): string =>
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
      },
    ],
  });

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
