/**
 * Every key of manifests and configs that is known, and what becomes of it. Beside the parsers, which read them: what they
 * read is `used`, what they name in an error is `refused`, what means something to others than the Director is `ignored`.
 * `unknown-keys.ts` warns of all others, and `docs/manifest-keys.md` is made from this.
 */
export type Verdict = "used" | "refused" | "ignored";

export interface KnownKey {
  readonly verdict: Verdict;
  readonly what: string;
  /** Keys of the map, or of the maps of the list. Undefined: the value has no keys, or the Director does not read them. */
  readonly keys?: KnownKeys | undefined;
}
export type KnownKeys = Readonly<Record<string, KnownKey>>;

const used = (what: string, keys?: KnownKeys): KnownKey => ({ verdict: "used", what, keys });
const refused = (what: string): KnownKey => ({ verdict: "refused", what });
const ignored = (what: string, keys?: KnownKeys): KnownKey => ({ verdict: "ignored", what, keys });

const NAME = used("required");
const CLOUD_PROPERTIES = used("for the CPI; merged key by key, later ones win");
const ONLY_CLOUD_CONFIG = refused("belongs into the cloud config");

const exportedFrom = used("stemcells whose compiled packages are taken", {
  os: used("required"),
  version: used("required"),
});

const release: KnownKeys = {
  name: NAME,
  version: used("required; `latest` is resolved at each deploy"),
  exported_from: exportedFrom,
  url: ignored("the CLI uploads from there before it deploys"),
  sha1: ignored("for the CLI's upload"),
  stemcell: ignored("for the CLI's upload of a compiled release", {
    os: ignored("for the CLI"),
    version: ignored("for the CLI"),
  }),
};

const update: KnownKeys = {
  canaries: used("number or share of instances that go first"),
  max_in_flight: used("number or share of instances at once"),
  canary_watch_time: used("milliseconds, or a range of them"),
  update_watch_time: used("milliseconds, or a range of them"),
  serial: used("whether groups wait for each other"),
  vm_strategy: used("`delete-create` or `create-swap-delete`"),
  initial_deploy_az_update_strategy: used("`serial` or `parallel`"),
};

const addonJob: KnownKeys = {
  name: NAME,
  release: NAME,
  properties: used("in place of the addon's"),
  consumes: used("links it takes"),
  provides: used("links it gives"),
};
const job: KnownKeys = {
  ...addonJob,
  properties: used("in place of the group's and the deployment's"),
  custom_provider_definitions: used("links that its release does not know", {
    name: NAME,
    type: used("required"),
    properties: used("that the link has"),
  }),
};

const filter = (level: "deployment" | "runtime"): KnownKeys => ({
  deployments: level === "runtime" ? used("names") : refused("the addon is for this deployment only"),
  jobs: used("jobs that are in the group", { name: NAME, release: NAME }),
  instance_groups: used("names"),
  stemcell: used("by operating system", { os: used("required") }),
  networks: used("names"),
  teams: level === "runtime" ? used("names") : ignored("a deployment's addon is for its own teams"),
  azs: used("names"),
  lifecycle: used("`service` or `errand`"),
});
const addons = (level: "deployment" | "runtime"): KnownKey =>
  used("jobs for the groups they are meant for", {
    name: NAME,
    jobs: used("what is added", addonJob),
    include: used("which groups", filter(level)),
    exclude: used("which groups not", filter(level)),
    properties: used("deprecated, and warned of: for jobs without their own"),
  });

const variables = used("what is generated", {
  name: NAME,
  type: used("required"),
  options: used("of the type"),
  update_mode: used("`no-overwrite`, `overwrite` or `converge`"),
  update: used("when a new version is taken", { strategy: used("`on-deploy` or `on-stemcell-change`") }),
  consumes: used("links whose names it takes"),
});

const resources: KnownKeys = {
  cpu: used("required"),
  ram: used("required, in MB"),
  ephemeral_disk_size: used("required, in MB"),
};

const instanceGroup: KnownKeys = {
  name: NAME,
  instances: used("required; 0 is allowed"),
  azs: used("names of the cloud config's azs"),
  jobs: used("required", job),
  vm_type: used("this or `vm_resources`"),
  vm_resources: used("this or `vm_type`", resources),
  vm_extensions: used("names of the cloud config's vm_extensions"),
  stemcell: used("required: an alias"),
  persistent_disk: used("in MB; 0 is none"),
  persistent_disk_type: used("name of one of the cloud config's disk_types"),
  persistent_disks: used("disks that jobs mount themselves", { name: NAME, type: used("required") }),
  networks: used("required", {
    name: NAME,
    static_ips: used("as many as instances"),
    default: used("`dns`, `gateway`, `addressable`"),
    nic_group: used("networks of one VM with the same one share an interface; for the CPI"),
  }),
  update: used("in place of the deployment's", update),
  migrated_from: used("groups whose instances become this one's", { name: NAME, az: used("where they are") }),
  lifecycle: used("`service` or `errand`"),
  properties: used("deprecated, for jobs without their own"),
  env: used("for the agent; another one recreates VMs"),
  tags: used("over the deployment's"),
  template: refused("of manifests v1"),
  templates: refused("of manifests v1"),
  resource_pool: refused("of manifests v1"),
  persistent_disk_pool: refused("of manifests v1"),
};

const flag = (what: string): KnownKey => used(what);

const manifest: KnownKeys = {
  name: NAME,
  director_uuid: ignored("of CLI v1; any Director takes the manifest"),
  features: used("switches", {
    use_dns_addresses: flag("links have names in place of addresses"),
    use_short_dns_addresses: flag("short ones"),
    use_link_dns_names: flag("names of links"),
    randomize_az_placement: flag("which zone gets one more is left to chance"),
    converge_variables: flag("variables are generated again when their definition changes"),
    use_tmpfs_config: flag("configuration of jobs is kept in memory"),
  }),
  release: used("one release, in place of `releases`", release),
  releases: used("required", release),
  stemcells: used("required", {
    alias: NAME,
    os: used("this or `name`"),
    name: used("this or `os`"),
    version: used("required; `latest` and `1.latest` are resolved at each deploy"),
  }),
  update: used("required", update),
  instance_groups: used("what runs", instanceGroup),
  addons: addons("deployment"),
  variables,
  tags: used("of VMs and disks, over those of runtime configs"),
  properties: used("deprecated, and warned of: for jobs without properties of their own or of their group"),
  vm_types: ONLY_CLOUD_CONFIG,
  vm_extensions: ONLY_CLOUD_CONFIG,
  azs: ONLY_CLOUD_CONFIG,
  disk_types: ONLY_CLOUD_CONFIG,
  compilation: ONLY_CLOUD_CONFIG,
  networks: refused("of manifests v1: belongs into the cloud config"),
  disk_pools: refused("of manifests v1"),
  jobs: refused("of manifests v1"),
  resource_pools: refused("of manifests v1"),
};

const named = (more: KnownKeys = {}): KnownKeys => ({
  name: NAME,
  ...more,
  cloud_properties: CLOUD_PROPERTIES,
});

const cloud: KnownKeys = {
  azs: used("availability zones", named({ cpi: used("name of a CPI of the CPI config") })),
  vm_types: used("sizes of VMs", named()),
  vm_extensions: used("what is added to them", named()),
  disk_types: used("kinds of disks", named({ disk_size: used("required, in MB") })),
  networks: used("required", {
    name: NAME,
    type: used("`manual`, `dynamic` or `vip`"),
    subnets: used("required for `manual`", {
      range: used("manual: required; of a managed network the CPI may choose it"),
      gateway: used(
        "manual: required, unless `director.ignore_missing_gateway` is set; with the range of a managed network the CPI may choose it",
      ),
      dns: used("servers"),
      reserved: used("addresses that are given to nobody"),
      static: used("addresses that groups name"),
      az: used("this or `azs`"),
      azs: used("this or `az`"),
      cloud_properties: CLOUD_PROPERTIES,
      prefix: used("manual: whoever is in it gets so large a part of the range; the same in all subnets"),
      name: used("of subnets of managed networks, where it is required"),
      netmask_bits: used("of managed networks: how large the range is to be that the CPI chooses"),
    }),
    dns: used("dynamic, without subnets"),
    cloud_properties: used("for the CPI: dynamic without subnets, and vip"),
    managed: used("the CPI makes it; needs `director.enable_cpi_network_management`"),
    az: refused("dynamic: belongs into the subnets"),
    azs: refused("dynamic: belongs into the subnets"),
    prefix: refused("dynamic: it has none"),
  }),
  compilation: used("required, in one of the cloud configs", {
    workers: used("required"),
    network: used("required"),
    az: used("name"),
    vm_type: used("this, `vm_resources` or `cloud_properties`"),
    vm_resources: used("this, `vm_type` or `cloud_properties`", resources),
    cloud_properties: used("this, `vm_type` or `vm_resources`"),
    vm_extensions: used("names"),
    reuse_compilation_vms: used("VMs are kept until all is compiled"),
    orphan_workers: used("VMs are left to be deleted later"),
    env: used("of these VMs"),
  }),
};

const runtime: KnownKeys = {
  releases: used("for addons", {
    name: NAME,
    version: used("required; never `latest`"),
    exported_from: exportedFrom,
    url: release.url as KnownKey,
    sha1: release.sha1 as KnownKey,
    stemcell: release.stemcell as KnownKey,
  }),
  addons: addons("runtime"),
  variables,
  tags: used("in one of the runtime configs only"),
};

const cpi: KnownKeys = {
  cpis: used("required", {
    name: NAME,
    type: used("required"),
    properties: used("for the CPI, with each call"),
    exec_path: used("its program"),
    migrated_from: used("earlier names", { name: used("required; empty is the CPI of the Director's own") }),
  }),
};

export const KNOWN_KEYS = { manifest, cloud, runtime, cpi } as const;
export type DocumentKind = keyof typeof KNOWN_KEYS;

/** `instance_groups[].jobs[].name`: every key of a document, with its place. */
export function everyKey(keys: KnownKeys, at = ""): readonly (KnownKey & { readonly path: string })[] {
  return Object.entries(keys).flatMap(([name, key]) => {
    const path = at === "" ? name : `${at}.${name}`;
    return [{ ...key, path }, ...everyKey(key.keys ?? {}, path)];
  });
}
