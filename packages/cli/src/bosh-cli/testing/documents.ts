/** Instance groups of a story: name, and what differs from one started instance with nothing. */
export interface Group {
  readonly name: string;
  readonly instances?: number;
  readonly disk?: "small" | "large";
  readonly vmType?: "default" | "other";
}

/** `net`: three numbers of an address range that is this story's alone. */
export const cloudConfig = (net: string): object => ({
  azs: [{ name: "z1" }],
  vm_types: [
    { name: "default", cloud_properties: {} },
    { name: "other", cloud_properties: { cpus: 2 } },
  ],
  disk_types: [
    { name: "small", disk_size: 1024 },
    { name: "large", disk_size: 2048 },
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

export const manifest = (name: string, ...groups: readonly Group[]): object => ({
  name,
  releases: [],
  stemcells: [{ alias: "default", os: "local", version: "latest" }],
  update: {
    canaries: 1,
    max_in_flight: 2,
    canary_watch_time: "10-30000",
    update_watch_time: "10-30000",
  },
  instance_groups: groups.map((group) => ({
    name: group.name,
    instances: group.instances ?? 1,
    azs: ["z1"],
    vm_type: group.vmType ?? "default",
    stemcell: "default",
    networks: [{ name: "private" }],
    jobs: [],
    ...(group.disk !== undefined && { persistent_disk_type: group.disk }),
  })),
});
