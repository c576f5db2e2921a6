/** Small deployments for drivers and benchmarks. */

export const CLOUD_CONFIG = `
azs: [{name: z1}, {name: z2}]
vm_types: [{name: small, cloud_properties: {cpu: 1}}, {name: big, cloud_properties: {cpu: 4}}]
disk_types: [{name: d1, disk_size: 1024}, {name: d2, disk_size: 2048}, {name: d3, disk_size: 2048, cloud_properties: {kind: fast}}]
networks:
- name: private
  type: manual
  subnets:
  - {range: 10.0.0.0/16, gateway: 10.0.0.1, azs: [z1], dns: [10.0.0.2], reserved: [10.0.0.2-10.0.0.9]}
  - {range: 10.1.0.0/16, gateway: 10.1.0.1, azs: [z2], dns: [10.1.0.2], reserved: [10.1.0.2-10.1.0.9]}
compilation: {workers: 1, network: private, az: z1, vm_type: small}
`;

/** One VM compiles one package after the other. */
export const REUSING_CLOUD_CONFIG = CLOUD_CONFIG.replace(
  "workers: 1",
  "workers: 1, reuse_compilation_vms: true",
);

export interface GroupSketch {
  readonly name: string;
  readonly instances: number;
  readonly disk?: string;
  /** Disk types by name. */
  readonly disks?: Readonly<Record<string, string>>;
  readonly vmType?: string;
  /** Default: `private`. */
  readonly network?: string;
  /** Default: `z1`. */
  readonly azs?: readonly string[];
  /** Jobs as written in a manifest. */
  readonly jobs?: readonly object[];
  readonly errand?: boolean;
  /** Earlier name of the group. */
  readonly migratedFrom?: string;
}

export interface ManifestSketch {
  readonly releases?: readonly {
    readonly name: string;
    readonly version: string;
    readonly exported_from?: readonly object[];
  }[];
  readonly name: string;
  readonly groups: readonly GroupSketch[];
  readonly stemcell?: string;
  /** Default: `sim-os`. */
  readonly os?: string;
  readonly swap?: boolean;
  readonly inFlight?: number;
  /** VMs that compile are used for one package after the other. */
  readonly reuse?: boolean;
  /** Adds two variables to every VM's env: one that is generated once, and one that each deploy generates again. */
  readonly variables?: boolean;
  /** An authority, and a certificate with the name under which this link of type `http` is found. */
  readonly certificateFor?: string;
}

export function manifestOf(sketch: ManifestSketch): string {
  const lines = [
    `name: ${sketch.name}`,
    `releases: ${JSON.stringify(sketch.releases ?? [])}`,
    `stemcells: [{alias: default, os: ${sketch.os ?? "sim-os"}, version: '${sketch.stemcell ?? "1.1"}'}]`,
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
      `  azs: [${(group.azs ?? ["z1"]).join(", ")}]`,
      `  vm_type: ${group.vmType ?? "small"}`,
      "  stemcell: default",
      `  networks: [{name: ${group.network ?? "private"}}]`,
      `  jobs: ${JSON.stringify(group.jobs ?? [])}`,
      ...(sketch.variables === true ? ["  env: {kept: ((kept)), renewed: ((renewed))}"] : []),
      ...(group.errand === true ? ["  lifecycle: errand"] : []),
      ...(group.migratedFrom === undefined ? [] : [`  migrated_from: [{name: ${group.migratedFrom}}]`]),
      ...(group.disks === undefined
        ? []
        : [
            `  persistent_disks: ${JSON.stringify(Object.entries(group.disks).map(([name, type]) => ({ name, type })))}`,
          ]),
      ...(group.disk === undefined ? [] : [`  persistent_disk_type: ${group.disk}`]),
    );
  const variables = variablesOf(sketch);
  if (variables.length > 0) lines.push("variables:", ...variables);
  return `${lines.join("\n")}\n`;
}

function variablesOf({ variables, certificateFor }: ManifestSketch): readonly string[] {
  const passwords = [
    "- {name: kept, type: password}",
    "- {name: renewed, type: password, update_mode: overwrite}",
  ];
  const certificates = [
    // Short keys: they are made again and again.
    "- {name: authority, type: certificate, options: {is_ca: true, common_name: authority, key_length: 2048}}",
    "- name: tls",
    "  type: certificate",
    "  options: {ca: authority, common_name: web, key_length: 2048}",
    `  consumes: {alternative_name: {from: ${certificateFor}, link_type: http}}`,
  ];
  return [...(variables === true ? passwords : []), ...(certificateFor === undefined ? [] : certificates)];
}
