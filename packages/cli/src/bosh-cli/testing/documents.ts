/** Instance groups of a story: name, and what differs from one started instance with nothing. */
export interface Group {
  readonly name: string;
  readonly instances?: number;
  readonly disk?: "small" | "large";
  /** Names of several disks, in place of the one. */
  readonly namedDisks?: readonly string[];
  readonly vmType?: "default" | "other";
  readonly jobs?: readonly object[];
  readonly lifecycle?: "errand";
  /** Default: `z1`. */
  readonly azs?: readonly string[];
}

/** `net`: three numbers of an address range that is this story's alone. `azs`: with their CPIs. */
export const cloudConfig = (
  net: string,
  azs: readonly { readonly name: string; readonly cpi?: string }[] = [{ name: "z1" }],
): object => ({
  azs,
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
      subnets: [{ range: `${net}.0/24`, gateway: `${net}.1`, azs: azs.map(({ name }) => name) }],
    },
  ],
  compilation: { workers: 1, network: "private", az: "z1", vm_type: "default" },
});

/** Releases that jobs of the groups come from, the newest of each. */
const releasesOf = (groups: readonly Group[]): readonly object[] =>
  [
    ...new Set(groups.flatMap(({ jobs = [] }) => jobs.map((job) => (job as { release: string }).release))),
  ].map((name) => ({ name, version: "latest" }));

export const manifest = (name: string, ...groups: readonly Group[]): object => ({
  name,
  releases: releasesOf(groups),
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
    azs: group.azs ?? ["z1"],
    vm_type: group.vmType ?? "default",
    stemcell: "default",
    networks: [{ name: "private" }],
    jobs: group.jobs ?? [],
    ...(group.lifecycle !== undefined && { lifecycle: group.lifecycle }),
    ...(group.disk !== undefined && { persistent_disk_type: group.disk }),
    ...(group.namedDisks !== undefined && {
      persistent_disks: group.namedDisks.map((disk) => ({ name: disk, type: "small" })),
    }),
  })),
});
