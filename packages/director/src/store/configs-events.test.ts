import { emptied, freshDatabase } from "@slipway/testkit/database";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deleteConfigs, findConfigs, latestConfig, listConfigs, saveConfig } from "./configs.ts";
import { addEvent, deleteOldEvents, type EventFilter, findEvent, listEvents } from "./events.ts";
import type { Db } from "./schema.ts";

let db: Db;
let base: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  base = await freshDatabase();
  db = base.db;
});
afterAll(() => base.close());
beforeEach(() => emptied(base.connection));

const put = async (
  content: string,
  more: { type?: string; name?: string; expectedLatestId?: number } = {},
) => {
  const saved = await saveConfig(db, { type: "cloud", name: "default", content, ...more });
  return saved.ok ? { id: saved.config.id, created: saved.created } : { latestId: saved.latestId };
};

describe("configs", () => {
  it("identical content makes no new version; other content does; only the newest is current", async () => {
    const first = await put("a: 1");
    expect(await put("a: 1")).toEqual({ ...first, created: false });
    const second = await put("a: 2");
    const third = await put("a: 1");
    expect(third).toMatchObject({ created: true });
    const ids = [first.id, second.id, third.id].map(Number);
    expect((await findConfigs(db, ids)).map(({ current }) => current)).toEqual([false, false, true]);
  });

  it("the content of a config is encrypted in the database, and read as it was given", async () => {
    const content = "cpis: [{name: a, type: a, properties: {password: CANARY}}]\n";
    await put(content, { type: "cpi" });
    const { rows } = await sql<{ all: string }>`select json_agg(c)::text as all from configs c`.execute(db);
    expect(rows[0]?.all).not.toContain("CANARY");
    expect((await latestConfig(db, "cpi", "default"))?.content).toBe(content);
    expect(await put(content, { type: "cpi" })).toMatchObject({ created: false });
  });

  it("the expected id must be the latest, and 0 expects no config", async () => {
    const first = await put("a: 1", { expectedLatestId: 0 });
    expect(first).toMatchObject({ created: true });
    expect(await put("a: 2", { expectedLatestId: 0 })).toEqual({ latestId: first.id });
    expect(await put("a: 2", { expectedLatestId: Number(first.id) })).toMatchObject({ created: true });
    await deleteConfigs(db, { type: "cloud", name: "default" });
    expect(await put("a: 3", { expectedLatestId: Number(first.id) })).toEqual({ latestId: 0 });
    expect(await put("a: 3", { expectedLatestId: 0 })).toMatchObject({ created: true });
  });

  it("one of two that expect the same id wins", async () => {
    const first = await put("a: 0");
    const both = await Promise.all(
      ["a: 1", "a: 2"].map((content) => put(content, { expectedLatestId: Number(first.id) })),
    );
    expect(both.filter((one) => "created" in one)).toHaveLength(1);
  });

  it("a deleted one is kept for those who have its id, and is no longer listed or latest", async () => {
    const { id } = await put("a: 1");
    await put("a: 2");
    expect(await deleteConfigs(db, { type: "cloud", name: "default" })).toBe(2);
    expect(await deleteConfigs(db, { type: "cloud", name: "default" })).toBe(0);
    expect(await latestConfig(db, "cloud", "default")).toBeUndefined();
    expect(await listConfigs(db, {})).toEqual([]);
    expect(await findConfigs(db, [Number(id), 999])).toMatchObject([{ id, deleted: true, current: false }]);
    // The same content after the deletion is a new version.
    expect(await put("a: 2")).toMatchObject({ created: true });
  });

  it("deleting the newest by id makes the one before it current again", async () => {
    const first = await put("a: 1");
    const second = await put("a: 2");
    expect(await deleteConfigs(db, { id: Number(second.id) })).toBe(1);
    expect(await latestConfig(db, "cloud", "default")).toMatchObject({ id: first.id, current: true });
  });

  it("are listed by type, name with default first, newest first, so many per type and name", async () => {
    for (const [type, name] of [
      ["runtime", "default"],
      ["cloud", "apex"],
      ["cloud", "default"],
      ["cloud", "zeta"],
    ])
      for (const content of ["1", "2", "3"]) await put(content, { type: type ?? "", name: name ?? "" });
    const list = async (filter: Parameters<typeof listConfigs>[1]) =>
      (await listConfigs(db, filter)).map(({ type, name, content }) => `${type}/${name}:${content}`);
    expect(await list({ limit: 1 })).toEqual([
      "cloud/default:3",
      "cloud/apex:3",
      "cloud/zeta:3",
      "runtime/default:3",
    ]);
    expect(await list({ limit: 2, type: "cloud", name: "zeta" })).toEqual(["cloud/zeta:3", "cloud/zeta:2"]);
    expect(await list({})).toHaveLength(12);
    expect(await list({ name: "default", limit: 1 })).toEqual(["cloud/default:3", "runtime/default:3"]);
  });
});

describe("events", () => {
  const event = (more: object = {}) => ({
    user: "admin",
    action: "create",
    objectType: "vm",
    objectName: "vm-1",
    ...more,
  });

  it("are read back as they were added, with what they belong to", async () => {
    const parent = await addEvent(db, event());
    const id = await addEvent(
      db,
      event({
        parentId: parent,
        taskId: 7,
        deployment: "shop",
        instance: "web/1",
        context: { a: 1 },
        error: "no",
      }),
    );
    expect(await findEvent(db, id)).toMatchObject({
      ...event(),
      id,
      parentId: parent,
      taskId: 7,
      deployment: "shop",
      instance: "web/1",
      context: { a: 1 },
      error: "no",
    });
    expect(await findEvent(db, 999)).toBeUndefined();
  });

  it.each<[EventFilter, number[]]>([
    [{}, [4, 3, 2, 1]],
    [{ beforeId: 3 }, [2, 1]],
    [{ deployment: "shop" }, [2]],
    [{ task: 7 }, [3]],
    [{ instance: "web/1" }, [2]],
    [{ user: "eve" }, [4]],
    [{ action: "delete", objectType: "disk" }, [3]],
    [{ objectName: "vm-1" }, [4, 2, 1]],
    [{ beforeTime: 1000 }, []],
    [{ afterTime: 1000, beforeId: 2 }, [1]],
    [{ user: "nobody" }, []],
  ])("%j finds the right ones, newest first", async (filter, ids) => {
    await addEvent(db, event());
    await addEvent(db, event({ deployment: "shop", instance: "web/1" }));
    await addEvent(db, event({ action: "delete", objectType: "disk", objectName: "disk-1", taskId: 7 }));
    await addEvent(db, event({ user: "eve" }));
    expect((await listEvents(db, filter)).map(({ id }) => id)).toEqual(ids);
  });

  it("are listed at most 200 at a time", async () => {
    await db
      .insertInto("events")
      .values(
        Array.from({ length: 250 }, () => ({ username: "a", action: "b", object_type: "c", context: "{}" })),
      )
      .execute();
    const page = await listEvents(db);
    expect([page.length, page[0]?.id, page.at(-1)?.id]).toEqual([200, 250, 51]);
    expect(await listEvents(db, { beforeId: 51 })).toHaveLength(50);
  });

  it("are kept up to a number, and with them those they end", async () => {
    const begun = await addEvent(db, event());
    for (let i = 0; i < 5; i++) await addEvent(db, event());
    const kept = async () => (await listEvents(db)).map(({ id }) => id);
    expect(await deleteOldEvents(db, 6)).toBe(0);
    expect(await deleteOldEvents(db, 4)).toBe(2);
    expect(await kept()).toEqual([6, 5, 4, 3]);
    expect(begun).toBe(1);
    // The newest ends what an old one began: what lies between stays as well.
    await addEvent(db, event({ parentId: 4 }));
    expect(await deleteOldEvents(db, 1)).toBe(1);
    expect(await kept()).toEqual([7, 6, 5, 4]);
    await addEvent(db, event());
    expect(await deleteOldEvents(db, 1)).toBe(4);
    expect(await kept()).toEqual([8]);
  });
});
