export const EVENT = {
  id: "7",
  parent_id: "6",
  timestamp: 1731700000,
  user: "admin",
  action: "update",
  object_type: "deployment",
  object_name: "shop",
  task: "42",
  deployment: "shop",
  instance: "web/6f1c",
};

const event = (task: string, state: string, time: number, more: object = {}) =>
  JSON.stringify({
    time,
    stage: "Updating instance",
    tags: ["web"],
    total: 2,
    task,
    index: 1,
    state,
    progress: 0,
    ...more,
  });

/** A task that had everything a task can have. */
export const EVENTS = `${[
  JSON.stringify({ time: 1731700000, type: "deprecation", message: "old ways" }),
  JSON.stringify({ time: 1731700000, type: "warning", message: "careful" }),
  event("web/6f1c (0) (canary)", "started", 1731700001),
  event("web/91aa (1)", "started", 1731700002),
  event("web/6f1c (0) (canary)", "in_progress", 1731700003, { data: { status: "executing pre-stop" } }),
  event("web/6f1c (0) (canary)", "in_progress", 1731700004, { data: { status: "stopping jobs" } }),
  event("web/6f1c (0) (canary)", "finished", 1731703661),
  event("web/91aa (1)", "failed", 1731703662, { data: { error: "processes did not start" } }),
  event("web/77bb (2)", "started", 1731703663),
  event("web/77bb (2)", "failed", 1731703664, { data: { error: "no room" } }),
  JSON.stringify({ time: 1731703665, error: { code: 400007, message: "'web/91aa (1)' is not running" } }),
].join("\n")}\n`;

const vitals = {
  cpu: { sys: "0.3", user: "0.1", wait: "0.0" },
  mem: { kb: "605008", percent: "7" },
  swap: { kb: "0", percent: "0" },
  load: ["0.00", "0.01", "0.10"],
  uptime: { secs: 100_012 },
  disk: { system: { inode_percent: "34", percent: "66" }, persistent: { inode_percent: "0", percent: "1" } },
};

export const VMS = [
  {
    vm_cid: "vm-2",
    active: true,
    vm_created_at: "2025-11-15T19:00:00Z",
    cloud_properties: { cpus: 2, type: "small" },
    disk_cid: null,
    disk_cids: [],
    ips: ["10.0.0.3", "10.1.0.3"],
    agent_id: "ag-2",
    job_name: "web",
    index: 1,
    job_state: "failing",
    state: "started",
    vm_type: "default",
    az: "z1",
    id: "91aa",
    bootstrap: false,
    ignore: true,
    vitals,
    processes: [
      {
        name: "nginx",
        state: "running",
        uptime: { secs: 100 },
        mem: { kb: 776, percent: 0.1 },
        cpu: { total: 0.25 },
      },
      {
        name: "app",
        state: "failing",
        uptime: { secs: 0 },
        mem: { kb: 12_345_678, percent: 33.34 },
        cpu: { total: 12 },
      },
    ],
    stemcell: { name: "bosh-x", version: "1.785", api_version: 3 },
  },
  {
    vm_cid: "vm-1",
    active: true,
    vm_created_at: "2025-11-05 09:00:00 UTC",
    disk_cid: "disk-1",
    disk_cids: ["disk-1", "disk-2"],
    ips: ["10.0.0.2"],
    agent_id: "ag-1",
    job_name: "db",
    index: 0,
    job_state: "running",
    state: "started",
    resource_pool: "pool",
    az: "z1",
    id: "6f1c",
    bootstrap: true,
    ignore: false,
    vitals,
    processes: [
      {
        name: "pg",
        state: "running",
        uptime: { secs: 90_061 },
        mem: { kb: 9999, percent: 1 },
        cpu: { total: 0 },
      },
    ],
    stemcell: { name: "bosh-x", version: "1.785" },
  },
  {
    vm_cid: null,
    job_name: "idle",
    id: "77bb",
    index: null,
    job_state: null,
    state: "detached",
    ips: [],
    az: null,
    bootstrap: true,
    ignore: false,
    vitals: {},
    processes: [],
  },
];

export const RELEASE = {
  jobs: [
    { name: "web", fingerprint: "f2", blobstore_id: "b-2", sha1: "sha256:2", consumes: [], provides: [] },
    {
      ...{ name: "db", fingerprint: "f1", blobstore_id: "b-1", sha1: "sha256:1" },
      consumes: [
        { name: "db", type: "database", optional: true },
        { name: "up", type: "http" },
      ],
      provides: [{ name: "conn", type: "database", properties: ["port"] }],
    },
  ],
  packages: [
    {
      ...{ name: "web", fingerprint: "p2", blobstore_id: null, sha1: null },
      compiled_packages: [
        { stemcell: "ubuntu-jammy/1.785", blobstore_id: "c-1", sha1: "sha256:3" },
        { stemcell: "ubuntu-noble/2", blobstore_id: "c-2", sha1: "sha256:4" },
      ],
    },
    { name: "go", fingerprint: "p1", blobstore_id: "b-3", sha1: "sha256:5", compiled_packages: [] },
  ],
};

export const LEFTOVERS = {
  releases: [
    { name: "shop", versions: ["1", "1.9"] },
    { name: "a", versions: ["3"] },
  ],
  stemcells: [{ name: "bosh-x", version: "1.9", cid: "sc-1", operating_system: "o", deployments: [] }],
  compiled_packages: [{ package_name: "go", stemcell_os: "ubuntu-jammy", stemcell_version: "1.785" }],
  orphaned_disks: [
    {
      ...{ disk_cid: "d-1", size: 1024, az: "z1", deployment_name: "shop", instance_name: "web/6f1c" },
      orphaned_at: "2025-11-05 19:00:00 UTC",
    },
  ],
  orphaned_vms: [
    {
      ...{ az: "z1", cid: "vm-9", deployment_name: "shop", instance_name: "web/6f1c", ip_addresses: [] },
      orphaned_at: "2025-11-05 19:00:00 UTC",
    },
  ],
  exported_releases: ["b-9"],
  dns_blobs: [],
};
export const ran = (group: string, code: number, stdout: string) =>
  JSON.stringify({
    instance: { group, id: "6f1c" },
    errand_name: "smoke",
    exit_code: code,
    stdout,
    stderr: "",
    logs: { blobstore_id: "logs-1", sha1: "0123" },
  });
