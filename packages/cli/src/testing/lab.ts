import { FakeDirector, INFO } from "./fake-director.ts";

const EVENT = {
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

const VMS = [
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

const task = (id: number, more: object) => ({
  id,
  state: "done",
  description: "create deployment",
  timestamp: 1731700050,
  started_at: 1731700000,
  result: "/deployments/shop",
  user: "admin",
  deployment: "shop",
  ...more,
});

/** A Director with something to show for every command. */
export async function startLab(): Promise<FakeDirector> {
  const director = await FakeDirector.start();
  const lines = VMS.map((one) => JSON.stringify(one)).join("\n");
  const config = {
    id: "8",
    type: "cloud",
    name: "default",
    team: null,
    created_at: "2025-11-15 19:00:00 UTC",
    content: "azs:\n- name: z1\n",
  };
  return director
    .json("GET /info", INFO)
    .json("GET /director/certificate_expiry", [
      { certificate_path: "a.pem", expiry: "2027-01-01T00:00:00Z", days_left: 300 },
    ])
    .json("GET /deployments", [
      {
        name: "shop",
        cloud_config: "latest",
        releases: [
          { name: "shop", version: "1.2.0" },
          { name: "z", version: "0+dev.1" },
        ],
        stemcells: [{ name: "bosh-x", version: "1.785" }],
        teams: ["a", "b"],
      },
      { name: "admin", releases: [], stemcells: [], teams: [] },
    ])
    .json("GET /deployment_configs", [
      { id: 1, deployment: "shop", config: { id: 3, type: "cloud", name: "default" } },
    ])
    .json("GET /deployments/shop", { manifest: "name: shop\n# kept\n" })
    .task("GET /deployments/shop/instances?format=full", 101, { result: lines })
    .task("GET /deployments/shop/vms?format=full", 102, { result: lines })
    .task("GET /deployments/admin/instances?format=full", 103, { result: "" })
    .task("GET /deployments/admin/vms?format=full", 104, { result: "" })
    .json("GET /disks", [
      {
        disk_cid: "d-1",
        size: 1024,
        az: "z1",
        deployment_name: "shop",
        instance_name: "web/6f1c",
        orphaned_at: "2025-11-05 19:00:00 UTC",
      },
      {
        disk_cid: "d-2",
        size: 500,
        az: null,
        deployment_name: "shop",
        instance_name: "web/91aa",
        orphaned_at: "2025-11-15 19:00:00 UTC",
      },
      { disk_cid: "d-3", size: 150_000, orphaned_at: "2024-01-15 19:00:00 UTC" },
    ])
    .json("GET /stemcells", [
      {
        name: "bosh-x",
        operating_system: "ubuntu-jammy",
        version: "1.9",
        cid: "sc-1",
        cpi: "",
        deployments: [],
      },
      {
        name: "bosh-x",
        operating_system: "ubuntu-jammy",
        version: "1.785",
        cid: "sc-2",
        cpi: "one",
        deployments: [{ name: "shop" }],
      },
      { name: "a", version: "3", cid: "sc-3", deployments: [] },
    ])
    .json("GET /configs", [
      { ...config, current: true },
      { ...config, id: "7", name: "other", team: "ops", current: false },
    ])
    .json("GET /configs/8", config)
    .json("GET /cloud_configs", [{ properties: "azs: []\n", created_at: "2025-11-15 19:00:00 UTC" }])
    .json("GET /tasks", [
      task(42, {}),
      task(43, { state: "processing", timestamp: null, result: null, deployment: null }),
      task(41, { state: "error", result: "it did not work" }),
      task(40, { state: "queued", timestamp: null, started_at: null, result: null }),
    ])
    .task("POST /none", 42, { event: EVENTS, debug: "D, line one\nline two", result: '{"a":1}\n' })
    .task("POST /failed", 41, { states: ["error"], event: EVENTS })
    .json("GET /events", [
      {
        ...EVENT,
        context: { before: { stemcells: ["x/1"] }, after: {}, n: 1 },
        error: "it's broken",
      },
      {
        id: "6",
        timestamp: 1731600000,
        user: "_director",
        action: "start",
        object_type: "worker",
        context: {},
      },
    ])
    .json("GET /events/7", {
      ...EVENT,
      context: { a: "b" },
      error: "broken",
    })
    .json("GET /events/6", {
      id: "6",
      timestamp: 1731600000,
      user: "_director",
      action: "start",
      object_type: "worker",
    })
    .json("GET /locks", [
      { type: "stemcells", resource: ["n", "1"], timeout: "1731700340.000000", task_id: "43" },
      { type: "deployment", resource: ["shop"], timeout: "1731700240.000000", task_id: "42" },
    ])
    .json("POST /stemcell_uploads", { needed: true })
    .task("POST /stemcells", 200, {})
    .task("DELETE /deployments/shop", 201, {})
    .task("DELETE /disks/d%2F1", 202, {})
    .task("DELETE /stemcells/bosh-x/1.2+dev.1", 203, {})
    .task("PUT /disks/d-1/attachments", 204, {})
    .task("PUT /deployments/shop/jobs/*", 205, {})
    .task("PUT /deployments/shop/jobs/web", 206, {})
    .task("PUT /deployments/shop/jobs/web/0", 207, {})
    .task("POST /deployments/shop/instance_groups/web/0/actions/stop", 208, {})
    .task("POST /deployments/shop/instance_groups/web/0/actions/recreate", 209, {})
    .on("PUT /deployments/shop/instance_groups/web/0/ignore", {})
    .on("DELETE /configs", { status: 204 })
    .on("DELETE /configs/9", { status: 404 })
    .on("DELETE /task/43", { status: 204 })
    .json("GET /tasks/43", task(43, { state: "processing" }));
}
