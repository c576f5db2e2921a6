import { FakeDirector, INFO } from "./fake-director.ts";
import { EVENT, EVENTS, LEFTOVERS, RELEASE, ran, VMS } from "./lab-documents.ts";

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
    .json("GET /releases", [
      {
        name: "shop",
        release_versions: [
          { version: "1.9", commit_hash: "4c36884a", uncommitted_changes: true, currently_deployed: false },
          { version: "1.10", commit_hash: "9bad88c", uncommitted_changes: false, currently_deployed: true },
          { version: "1.10+dev.1", commit_hash: "", uncommitted_changes: false, currently_deployed: false },
        ],
      },
      { name: "a", release_versions: [{ version: "3" }] },
    ])
    .json("GET /releases/shop", RELEASE)
    .json("POST /packages/matches", [])
    .task("POST /releases", 226, {})
    .task("DELETE /releases/shop", 227, {})
    .task("POST /releases/export", 228, { result: `${JSON.stringify({ blobstore_id: "b-9", sha1: "" })}\n` })
    .on("GET /resources/b-9", { body: "an archive" })
    .task("POST /cleanup", 229, {})
    .json("GET /cleanup/dryrun", LEFTOVERS)
    .json("GET /configs", [
      { ...config, current: true },
      { ...config, id: "7", name: "other", team: "ops", current: false },
    ])
    .json("GET /configs/8", config)
    .json("GET /cloud_configs", [{ properties: "azs: []\n", created_at: "2025-11-15 19:00:00 UTC" }])
    .json("GET /runtime_configs", [{ properties: "addons: []\n" }])
    .json("GET /cpi_configs", [{ properties: "cpis: []\n" }])
    .json("GET /strays", [])
    .json("GET /networks", [
      {
        name: "n",
        type: "manual",
        created_at: "2025-11-05 19:00:00 UTC",
        orphaned_at: "2025-11-06 19:00:00 UTC",
      },
    ])
    .json("GET /orphaned_vms", [
      {
        az: "z1",
        cid: "vm-9",
        deployment_name: "shop",
        instance_name: "web/6f1c",
        ip_addresses: ["10.0.0.9", "10.0.0.10"],
        orphaned_at: "2025-11-05 19:00:00 UTC",
      },
    ])
    .task("DELETE /vms/vm-1", 210, {})
    .on("PUT /resurrection", {})
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
    .json("GET /deployments/shop/variables", [
      { id: "7", name: "/lab/shop/web_tls" },
      { id: "12", name: "/lab/shop/pw" },
      { id: "3", name: "/shared/ca" },
    ])
    .json("GET /deployments/shop/errands", [{ name: "smoke" }, { name: "broken" }])
    .task("POST /deployments/shop/errands/smoke/runs", 220, {
      result: `${ran("web", 0, "all is well\n")}\n${ran("db", 0, "two\nlines")}\n`,
    })
    .task("POST /deployments/shop/errands/broken/runs", 221, { result: `${ran("web", 3, "alas\n")}\n` })
    .json("GET /deployments/shop/snapshots", [
      {
        job: "web",
        index: 0,
        uuid: "6f1c",
        snapshot_cid: "s-1",
        created_at: "2025-11-15 19:00:00 UTC",
        clean: false,
      },
      {
        job: "db",
        index: null,
        uuid: "91aa",
        snapshot_cid: "s-2",
        created_at: "2025-11-05 19:00:00 UTC",
        clean: true,
      },
    ])
    .task("POST /deployments/shop/snapshots", 222, {})
    .task("POST /deployments/shop/jobs/web/0/snapshots", 223, {})
    .task("DELETE /deployments/shop/snapshots/s%2F1", 224, {})
    .task("DELETE /deployments/shop/snapshots", 225, {})
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
    .on("POST /tasks/cancel", { status: 204 })
    .json("GET /tasks/43", task(43, { state: "processing" }));
}
