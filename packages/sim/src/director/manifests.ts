/** Small deployments for drivers and benchmarks. */

export const CLOUD_CONFIG = `
azs: [{name: z1}, {name: z2}]
vm_types: [{name: small, cloud_properties: {cpu: 1}}, {name: big, cloud_properties: {cpu: 4}}]
disk_types: [{name: d1, disk_size: 1024}, {name: d2, disk_size: 2048}]
networks:
- name: private
  type: manual
  subnets:
  - {range: 10.0.0.0/16, gateway: 10.0.0.1, azs: [z1], dns: [10.0.0.2], reserved: [10.0.0.2-10.0.0.9]}
  - {range: 10.1.0.0/16, gateway: 10.1.0.1, azs: [z2], dns: [10.1.0.2], reserved: [10.1.0.2-10.1.0.9]}
compilation: {workers: 1, network: private, az: z1, vm_type: small}
`;

export interface GroupSketch {
  readonly name: string;
  readonly instances: number;
  readonly disk?: string;
  readonly vmType?: string;
}

export interface ManifestSketch {
  readonly name: string;
  readonly groups: readonly GroupSketch[];
  readonly stemcell?: string;
  readonly swap?: boolean;
  readonly inFlight?: number;
}

export function manifestOf(sketch: ManifestSketch): string {
  const lines = [
    `name: ${sketch.name}`,
    "releases: []",
    `stemcells: [{alias: default, os: sim-os, version: '${sketch.stemcell ?? "1.1"}'}]`,
    "update:",
    "  canaries: 1",
    `  max_in_flight: ${sketch.inFlight ?? 2}`,
    "  canary_watch_time: 0-1000",
    "  update_watch_time: 0-1000",
    ...(sketch.swap === true ? ["  vm_strategy: create-swap-delete"] : []),
    sketch.groups.length === 0 ? "instance_groups: []" : "instance_groups:",
  ];
  for (const group of sketch.groups)
    lines.push(
      `- name: ${group.name}`,
      `  instances: ${group.instances}`,
      "  azs: [z1]",
      `  vm_type: ${group.vmType ?? "small"}`,
      "  stemcell: default",
      "  networks: [{name: private}]",
      "  jobs: []",
      ...(group.disk === undefined ? [] : [`  persistent_disk_type: ${group.disk}`]),
    );
  return `${lines.join("\n")}\n`;
}
