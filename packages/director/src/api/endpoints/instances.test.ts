import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureDeployment } from "../../store/deployments.ts";
import { type Harness, startHarness } from "../testing/harness.ts";
import { seedShop, WEB_0, WEB_1 } from "../testing/seed.ts";

let api: Harness;
beforeAll(async () => {
  api = await startHarness();
  await seedShop(api.db);
  await ensureDeployment(api.db, "fresh");
});
afterAll(() => api.close());
beforeEach(() => void api.queued.splice(0));

const put = (path: string) => api.ask("PUT", path, { type: "text/yaml", body: "" });

describe("one instance", () => {
  const of = (path: string) => api.get(`/deployments/shop/jobs/${path}`);

  it.each([["web/0"], [`web/${WEB_0}`]])("is read at jobs/%s, with its disks", async (path) => {
    expect(await of(path)).toMatchObject({
      status: 200,
      json: {
        ...{ deployment: "shop", job: "web", index: 0, id: WEB_0, state: "started" },
        disks: ["disk-1"],
      },
    });
  });

  it("has the state that is wanted of it, and no disks if it has none", async () => {
    expect((await of("web/1")).json).toMatchObject({ id: WEB_1, state: "detached", disks: [] });
  });

  it("is refused in upstream's numbers if it does not exist", async () => {
    expect(await of("web/7")).toMatchObject({ status: 404, json: { code: 70001 } });
    expect(await of("web/x")).toMatchObject({ status: 400, json: { code: 70002 } });
  });

  it("has snapshots of its own", async () => {
    const snapshot = { disk_cid: "disk-1", clean: false, cpi: "", task_id: 1 };
    await api.db
      .insertInto("snapshots")
      .values({ cid: "snap-1", ...snapshot, created_at: new Date("2025-11-15T19:00:00Z") })
      .execute();
    const cids = async (path: string) =>
      ((await of(`${path}/snapshots`)).json as readonly { snapshot_cid: string }[]).map(
        ({ snapshot_cid: cid }) => cid,
      );
    expect(await cids("web/0")).toEqual(["snap-1"]);
    expect(await cids(`web/${WEB_0}`)).toEqual(["snap-1"]);
    expect(await cids("web/1")).toEqual([]);
  });
});

it("an orphaned disk is deleted at its old address, too", async () => {
  expect((await api.ask("DELETE", "/orphan_disks/disk-old")).status).toBe(302);
  expect(api.queued).toMatchObject([{ type: "delete_orphan_disks", params: { disk_cids: ["disk-old"] } }]);
});

describe("start, stop, restart, recreate", () => {
  it.each([
    ["/jobs/*?state=stopped", { to: "stopped" }],
    ["/jobs/web?state=detached&skip_drain=true", { group: "web", to: "detached" }],
    ["/jobs/web/1?state=started", { group: "web", instance: WEB_1, to: "started" }],
    [`/jobs/web/${WEB_0}?state=recreate&fix=true`, { group: "web", instance: WEB_0, to: "recreate" }],
  ])("PUT %s, with an empty body", async (path, state) => {
    expect((await put(`/deployments/shop${path}`)).status).toBe(302);
    expect(api.queued).toMatchObject([
      { type: "update_deployment", description: "create deployment", deployment: "shop", params: { state } },
    ]);
    const { options } = (api.queued[0]?.params ?? {}) as { options: { skip_drain: string[]; fix: boolean } };
    expect(options.skip_drain).toEqual(path.includes("skip_drain") ? ["*"] : []);
    expect(options.fix).toBe(path.includes("fix=true"));
  });

  it.each([
    ["/deployments/shop/jobs/*?state=gone", 400, 140006],
    ["/deployments/shop/jobs/*", 400, 140006],
    ["/deployments/shop/jobs/db?state=started", 404, 70009],
    ["/deployments/shop/jobs/web/7?state=started", 404, 70001],
    ["/deployments/shop/jobs/web/x?state=started", 400, 70002],
    ["/deployments/none/jobs/*?state=started", 404, 70000],
    ["/deployments/fresh/jobs/*?state=started", 400, 440001],
  ])("PUT %s is refused with %i and code %i", async (path, status, code) => {
    expect(await put(path)).toMatchObject({ status, json: { code } });
    expect(api.queued).toEqual([]);
  });

  it("are a task of one instance without converging", async () => {
    const path = "/deployments/shop/instance_groups/web/0/actions";
    expect((await api.ask("POST", `${path}/stop?hard=true&skip_drain=true`)).status).toBe(302);
    expect((await api.ask("POST", `${path}/recreate?ignore_unresponsive_agent=true`)).status).toBe(302);
    const common = { group: "web", instance: WEB_0 };
    expect(api.queued).toMatchObject([
      {
        type: "update_instance",
        description: "stop instance",
        deployment: "shop",
        params: { ...common, action: "stop", hard: true, skip_drain: true, ignore_unresponsive_agent: false },
      },
      { params: { action: "recreate", hard: false, ignore_unresponsive_agent: true } },
    ]);
    expect((await api.ask("POST", `${path}/explode`)).status).toBe(404);
  });
});

describe("ignore", () => {
  it("marks an instance, unmarks it, and leaves an event", async () => {
    const ignore = (value: unknown) =>
      api.ask("PUT", "/deployments/shop/instance_groups/web/1/ignore", {
        type: "application/json",
        body: JSON.stringify({ ignore: value }),
      });
    const state = () =>
      api.db.selectFrom("instances").select("ignore").where("uuid", "=", WEB_1).executeTakeFirst();
    expect((await ignore(true)).status).toBe(200);
    expect(await state()).toEqual({ ignore: true });
    expect((await ignore(false)).status).toBe(200);
    expect(await state()).toEqual({ ignore: false });
    expect((await ignore("yes")).status).toBe(400);
    expect((await api.get(`/events?instance=web/${WEB_1}`)).json).toMatchObject([
      { action: "unignore", user: "admin", deployment: "shop" },
      { action: "ignore" },
    ]);
  });
});
