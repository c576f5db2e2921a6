import { saveConfig } from "@slipway/director/store/configs";
import { freshDatabase } from "@slipway/testkit/database";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seed } from "../director/seed.ts";
import { SimWorld } from "../world/world.ts";
import { RowKeeper } from "./rows.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let client: pg.Client;
let keeper: RowKeeper;

beforeAll(async () => {
  database = await freshDatabase();
  client = new pg.Client(database.connection as pg.ClientConfig);
  await client.connect();
  keeper = await RowKeeper.of(client);
});
afterAll(async () => {
  await client.end();
  await database.close();
});

it("a database gets back the rows that were taken from it, and its next numbers", async () => {
  const { db } = database;
  await seed(new SimWorld(), db);
  await db.insertInto("director_attributes").values({ name: "a", value: 'quoted " \\ and more\n' }).execute();
  const taken = await keeper.take();
  const nextId = async () => {
    const saved = await saveConfig(db, { type: "cloud", name: "another", content: "azs: []\n" });
    return saved.ok && saved.created ? saved.config.id : undefined;
  };
  const next = await nextId();
  expect(next).toBeGreaterThan(0);
  await db.deleteFrom("stemcells").execute();
  await db.updateTable("director_attributes").set({ value: "b" }).execute();
  expect(await keeper.take()).not.toEqual(taken);
  await keeper.give(taken);
  expect(await keeper.take()).toEqual(taken);
  expect(await nextId()).toBe(next);
});

it("uncommitted rows are not taken", async () => {
  const taken = await keeper.take();
  await database.db.transaction().execute(async (tx) => {
    await tx.deleteFrom("configs").execute();
    expect((await keeper.take()).rows).toEqual(taken.rows);
  });
  expect((await keeper.take()).rows).not.toEqual(taken.rows);
});
