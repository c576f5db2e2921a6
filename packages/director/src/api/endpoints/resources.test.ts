import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { addEvent } from "../../store/events.ts";
import { noteUpload } from "../../store/stemcells.ts";
import { type Harness, startHarness } from "../testing/harness.ts";
import { seedShop, WEB_0 } from "../testing/seed.ts";

let api: Harness;
beforeAll(async () => {
  const certificate = { certificate_path: "/ca", expiry: "2027-01-01T00:00:00Z", days_left: 300 };
  api = await startHarness({ certificates: async () => [certificate] });
  await seedShop(api.db);
});
afterAll(() => api.close());
beforeEach(() => void api.queued.splice(0));

describe("disks", () => {
  it("are listed in the CLI's form if they are orphaned", async () => {
    await api.db
      .insertInto("orphan_disks")
      .values({
        cid: "d-1",
        size: 1024,
        cloud_properties: JSON.stringify({ type: "ssd" }),
        cpi: "",
        az: "z1",
        deployment_name: "shop",
        instance_name: "web/x",
        orphaned_at: new Date("2025-11-15T19:00:00Z"),
      })
      .execute();
    expect((await api.get("/disks")).json).toEqual([
      {
        disk_cid: "d-1",
        size: 1024,
        az: "z1",
        deployment_name: "shop",
        instance_name: "web/x",
        cloud_properties: { type: "ssd" },
        orphaned_at: "2025-11-15 19:00:00 UTC",
      },
    ]);
  });

  it("are never deleted while an instance has them, only orphaned", async () => {
    const answer = await api.ask("DELETE", "/disks/disk-1");
    expect(answer).toMatchObject({ status: 400, json: { code: 520000 } });
    expect(answer.body).toContain(`web/${WEB_0}`);
    expect(api.queued).toEqual([]);
    expect((await api.ask("DELETE", "/disks/disk-1?orphan=true")).status).toBe(302);
    expect(api.queued).toMatchObject([{ type: "orphan_disk", params: { disk_cid: "disk-1" } }]);
  });

  it("are attached by a task", async () => {
    const path = "/disks/a%2Fb/attachments?deployment=shop&instance_id=0&job=web";
    expect((await api.ask("PUT", `${path}&disk_properties=copy`)).status).toBe(302);
    expect((await api.ask("PUT", path)).status).toBe(302);
    const params = { deployment: "shop", group: "web", instance: WEB_0, disk_cid: "a/b" };
    expect(api.queued).toMatchObject([
      {
        type: "attach_disk",
        description: "attach disk 'a/b' to 'web/0'",
        params: { ...params, disk_properties: "copy" },
      },
      { params },
    ]);
  });

  it.each([
    ["?deployment=shop&instance_id=0", 400, 40001],
    ["?deployment=shop&instance_id=7&job=web", 404, 70001],
    ["?deployment=none&instance_id=0&job=web", 404, 70000],
    ["?deployment=shop&instance_id=0&job=web&disk_properties=all", 400, 40005],
  ])("are not attached to %s", async (query, status, code) => {
    expect(await api.ask("PUT", `/disks/d/attachments${query}`)).toMatchObject({ status, json: { code } });
  });
});

describe("stemcells", () => {
  const needed = async (name: string, version: string) =>
    (
      await api.ask("POST", "/stemcell_uploads", {
        type: "application/json",
        body: JSON.stringify({ stemcell: { name, version } }),
      })
    ).json;

  it("are needed until every CPI was given them, and always when nameless", async () => {
    expect(await needed("tiny", "1")).toEqual({ needed: true });
    await noteUpload(api.db, { name: "tiny", version: "1", cpi: "" });
    expect(await needed("tiny", "1")).toEqual({ needed: false });
    expect(await needed("tiny", "2")).toEqual({ needed: true });
    expect(await needed("", "")).toEqual({ needed: true });
  });

  it("are listed with their users", async () => {
    const { id } = await api.db
      .insertInto("stemcells")
      .values({
        name: "tiny",
        version: "1.10",
        operating_system: "tiny-os",
        cid: "sc-9f",
        digest: "d",
        cpi: "",
        api_version: 3,
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    await api.db
      .insertInto("deployment_stemcells")
      .columns(["deployment_id", "stemcell_id"])
      .expression((eb) => eb.selectFrom("deployments").select(["id", eb.lit(id).as("stemcell_id")]))
      .execute();
    expect((await api.get("/stemcells")).json).toEqual([
      {
        id,
        name: "tiny",
        operating_system: "tiny-os",
        version: "1.10",
        cid: "sc-9f",
        cpi: "",
        api_version: 3,
        deployments: [{ name: "shop" }],
      },
    ]);
  });
});

describe("events", () => {
  it("are found by each thing they have, by what came before an id, and by times", async () => {
    const of = {
      user: "ann",
      action: "create",
      objectType: "thing",
      objectName: "t-1",
      deployment: "filters",
    };
    const first = await addEvent(api.db, { ...of, instance: "web/1", taskId: 77 });
    const second = await addEvent(api.db, { ...of, user: "bob", action: "delete", objectName: "t-2" });
    const third = await addEvent(api.db, { ...of, objectType: "other", deployment: "filters-2" });
    const found = async (query: string) =>
      ((await api.get(`/events?${query}`)).json as { id: string; timestamp: number }[]).filter(({ id }) =>
        [first, second, third].map(String).includes(id),
      );
    const ids = async (query: string) => (await found(query)).map(({ id }) => Number(id));
    expect(await ids("deployment=filters")).toEqual([second, first]);
    expect(await ids("instance=web/1")).toEqual([first]);
    expect(await ids("task=77")).toEqual([first]);
    expect(await ids("user=bob")).toEqual([second]);
    expect(await ids("action=delete")).toEqual([second]);
    expect(await ids("object_type=other")).toEqual([third]);
    expect(await ids("object_name=t-1")).toEqual([third, first]);
    expect(await ids("object_name=t-1&deployment=filters")).toEqual([first]);
    expect(await ids(`before_id=${third}`)).toEqual([second, first]);
    const [{ timestamp = 0 } = {}] = await found("instance=web/1");
    expect(await ids(`instance=web/1&before_time=${timestamp}`)).toEqual([]);
    expect(await ids(`instance=web/1&before_time=${timestamp + 1}`)).toEqual([first]);
    expect(await ids(`instance=web/1&after_time=${timestamp - 1}`)).toEqual([first]);
    // As upstream: not what has that very time.
    expect(await ids(`instance=web/1&after_time=${timestamp}`)).toEqual([]);
    const written = encodeURIComponent(new Date((timestamp - 1) * 1000).toUTCString());
    expect(await ids(`instance=web/1&after_time=${written}`)).toEqual([first]);
  });

  it("have strings for ids and whole seconds, and leave out what is missing", async () => {
    const parent = await addEvent(api.db, {
      user: "admin",
      action: "create",
      objectType: "deployment",
      objectName: "ev",
      deployment: "ev",
      taskId: 42,
    });
    const id = await addEvent(api.db, {
      user: "admin",
      action: "create",
      objectType: "deployment",
      objectName: "ev",
      deployment: "ev",
      parentId: parent,
      error: "it broke",
      instance: "web/x",
      context: { a: 1 },
    });
    const [last, first] = (await api.get("/events?deployment=ev")).json as Record<string, unknown>[];
    expect(last).toEqual({
      id: String(id),
      parent_id: String(parent),
      timestamp: expect.any(Number),
      user: "admin",
      action: "create",
      object_type: "deployment",
      object_name: "ev",
      error: "it broke",
      deployment: "ev",
      instance: "web/x",
      context: { a: 1 },
    });
    expect(Number.isInteger(last?.timestamp)).toBe(true);
    expect(first).toMatchObject({ id: String(parent), task: "42" });
    expect(first).not.toHaveProperty("parent_id");
    expect((await api.get(`/events/${id}`)).json).toEqual(last);
    expect((await api.get(`/events?deployment=ev&before_id=${id}`)).json).toEqual([first]);
    expect((await api.get("/events?deployment=ev&before_time=1000")).json).toEqual([]);
    expect((await api.get("/events?deployment=ev&after_time=2100-01-01+00:00:00+UTC")).json).toEqual([]);
    expect((await api.get("/events?before_time=tomorrow")).status).toBe(400);
    expect((await api.get("/events/999999")).status).toBe(404);
  });
});

describe("the rest", () => {
  it("orphaned VMs and strays are listed", async () => {
    const noted = new Date("2025-11-15T19:00:00Z");
    await api.db
      .insertInto("orphaned_vms")
      .values({
        cid: "vm-o",
        cpi: "",
        az: null,
        stemcell_api_version: 2,
        deployment_name: "shop",
        instance_name: "web/x",
        orphaned_at: noted,
      })
      .execute();
    await api.db
      .insertInto("strays")
      .values({ kind: "vm", cpi: "", request_id: "r", about: "web/x", why: "lost", noted_at: noted })
      .execute();
    expect((await api.get("/orphaned_vms")).json).toEqual([
      {
        az: null,
        cid: "vm-o",
        deployment_name: "shop",
        instance_name: "web/x",
        ip_addresses: [],
        orphaned_at: "2025-11-15 19:00:00 UTC",
      },
    ]);
    const strays = (await api.get("/strays")).json as readonly { readonly id: string }[];
    expect(strays).toMatchObject([{ kind: "vm", about: "web/x", why: "lost" }]);
    expect((await api.ask("DELETE", `/strays/${strays[0]?.id}`)).status).toBe(204);
    expect((await api.get("/strays")).json).toEqual([]);
    expect((await api.ask("DELETE", `/strays/${strays[0]?.id}`)).status).toBe(404);
  });

  it("resurrection is switched off and on", async () => {
    const paused = (value: boolean) =>
      api.ask("PUT", "/resurrection", {
        type: "application/json",
        body: JSON.stringify({ resurrection_paused: value }),
      });
    expect((await api.get("/resurrection")).json).toEqual({ resurrection: true });
    expect((await paused(true)).status).toBe(200);
    expect((await api.get("/resurrection")).json).toEqual({ resurrection: false });
    expect((await paused(false)).status).toBe(200);
    expect((await api.get("/resurrection")).json).toEqual({ resurrection: true });
  });

  it("certificates are listed where they are known", async () => {
    expect((await api.get("/director/certificate_expiry")).json).toMatchObject([{ days_left: 300 }]);
  });

  it.each(["/releases", "/networks?orphaned=true"])("GET %s is empty", async (path) => {
    expect(await api.get(path)).toMatchObject({ status: 200, json: [] });
  });

  it.each([
    ["GET", "/releases/r?version=1", 404, 30005],
    ["DELETE", "/releases/r", 404, 30005],
    ["GET", "/resources/x", 404, 100002],
  ])("%s %s is refused with its status and code", async (method, path, status, code) => {
    expect(await api.ask(method, path)).toMatchObject({ status, json: { code } });
  });
});
