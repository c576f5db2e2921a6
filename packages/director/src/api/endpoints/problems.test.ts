import type { GroupName, InstanceUuid } from "@slipway/engine/model/names";
import type { FoundProblem } from "@slipway/engine/model/problems";
import type { DiskCid, VmCid } from "@slipway/protocol/ids";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { RESURRECTION_PAUSED, setAttribute } from "../../store/attributes.ts";
import { findDeployment } from "../../store/deployments.ts";
import { saveScan } from "../../store/problems.ts";
import { type Harness, startHarness } from "../testing/harness.ts";
import { seedShop, WEB_0, WEB_1 } from "../testing/seed.ts";

const FOUND: FoundProblem = {
  type: "missing_vm",
  instance: WEB_0 as InstanceUuid,
  group: "web" as GroupName,
  index: 0,
  vm: "vm-1" as VmCid,
  disk: null,
  size: null,
  mountedOn: [],
};

let api: Harness;
beforeAll(async () => {
  api = await startHarness();
  await seedShop(api.db);
  const { id = 0 } = (await findDeployment(api.db, "shop")) ?? {};
  const inactive = { ...FOUND, type: "inactive_disk", disk: "disk-1" as DiskCid, size: 1024 } as const;
  await saveScan(api.db, id, [FOUND, inactive]);
});
afterAll(() => api.close());
beforeEach(() => void api.queued.splice(0));

const put = (path: string, body: unknown) =>
  api.ask("PUT", `/deployments/shop${path}`, { type: "application/json", body: JSON.stringify(body) });

describe("cloud-check", () => {
  it("POST scans is a task", async () => {
    const { status } = await api.ask("POST", "/deployments/shop/scans", { type: "application/json" });
    expect(status).toBe(302);
    expect(api.queued).toMatchObject([
      { type: "cck_scan", description: "scan cloud", deployment: "shop", params: { deployment: "shop" } },
    ]);
  });

  it("GET problems has the open ones, with what can be done", async () => {
    const { json } = await api.get("/deployments/shop/problems");
    expect(json).toEqual([
      {
        id: 1,
        type: "missing_vm",
        data: { vm_cid: "vm-1", disk_cid: null, instance_id: WEB_0 },
        description: `VM for 'web/${WEB_0} (0)' with cloud ID 'vm-1' missing.`,
        instance_group: "web",
        resolutions: [
          { name: "ignore", plan: "Skip for now" },
          {
            name: "recreate_vm_without_wait",
            plan: "Recreate VM without waiting for processes to start",
          },
          { name: "recreate_vm", plan: "Recreate VM and wait for processes to start" },
          { name: "delete_vm_reference", plan: "Delete VM reference" },
        ],
      },
      expect.objectContaining({
        id: 2,
        type: "inactive_disk",
        description: `Disk 'disk-1' (1024M) for instance 'web/${WEB_0} (0)' is inactive`,
      }),
    ]);
  });

  it("PUT problems is a task with what was chosen", async () => {
    const resolutions = { "1": "recreate_vm", "2": null };
    expect((await put("/problems", { resolutions })).status).toBe(302);
    expect((await put("/problems", { resolutions, max_in_flight_overrides: { web: "50%" } })).status).toBe(
      302,
    );
    expect(api.queued).toMatchObject([
      { type: "cck_apply", description: "apply resolutions", params: { deployment: "shop", resolutions } },
      { params: { max_in_flight_overrides: { web: "50%" } } },
    ]);
  });

  it.each([
    [{}],
    [{ resolutions: [] }],
    [{ resolutions: { x: "ignore" } }],
    [{ resolutions: { "1": 7 } }],
    [{ resolutions: {}, max_in_flight_overrides: { web: "many" } }],
  ])("PUT problems with %j is refused", async (body) => {
    expect(await put("/problems", body)).toMatchObject({ status: 400, json: { code: 40005 } });
    expect(api.queued).toEqual([]);
  });

  it("PUT scan_and_fix names instances by index or id, and is refused while resurrection is paused", async () => {
    expect((await put("/scan_and_fix", { jobs: { web: [0, WEB_1] } })).status).toBe(302);
    expect(api.queued).toMatchObject([{ type: "cck_scan_and_fix", params: { instances: [WEB_0, WEB_1] } }]);
    expect(await put("/scan_and_fix", { jobs: { web: [7] } })).toMatchObject({ json: { code: 70001 } });
    await setAttribute(api.db, RESURRECTION_PAUSED, "true");
    expect(await put("/scan_and_fix", { jobs: { web: [0] } })).toMatchObject({ json: { code: 410004 } });
    expect(api.queued).toHaveLength(1);
  });

  it("is for those who may change the deployment, and one that exists", async () => {
    for (const [method, path] of [
      ["POST", "scans"],
      ["GET", "problems"],
      ["PUT", "problems"],
      ["PUT", "scan_and_fix"],
    ] as const) {
      const type = "application/json";
      const sent = { type, body: '{"resolutions":{},"jobs":{}}' };
      const refused = await api.ask(method, `/deployments/shop/${path}`, { ...sent, user: "reader" });
      expect(refused.status).toBe(401);
      expect(await api.ask(method, `/deployments/none/${path}`, sent)).toMatchObject({
        json: { code: 70000 },
      });
    }
  });
});
