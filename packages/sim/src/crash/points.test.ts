import { openStore, type Store } from "@slipway/director/store/open";
import { systemClock } from "@slipway/kernel/clock";
import { freshDatabase } from "@slipway/testkit/database";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { simSealer } from "../director/sim-sealer.ts";
import {
  type CrashPoints,
  installCrashPoints,
  isSame,
  kindOf,
  type PointId,
  readWritingFunctions,
} from "./points.ts";

class Died extends Error {}

let dieAt: PointId | undefined;
let points: CrashPoints;
let database: Awaited<ReturnType<typeof freshDatabase>>;
let store: Store;
let seen = 0;
let files = "";

beforeAll(async () => {
  database = await freshDatabase();
  store = await openStore({ sealer: simSealer, connection: database.connection });
  points = installCrashPoints({
    reached: (point) => {
      if (isSame(point, dieAt)) throw new Died();
    },
    functions: await readWritingFunctions(database.connection),
    files: () => files,
  });
});
afterAll(async () => {
  await store.close();
  await database.close();
});
beforeEach(async () => {
  dieAt = undefined;
  await store.db.deleteFrom("director_attributes").execute();
  await store.db.insertInto("director_attributes").values({ name: "a", value: "0" }).execute();
  seen = points.passed().length;
});

const passed = () =>
  points
    .passed()
    .slice(seen)
    .map(({ name }) => name);
const value = async () => {
  const row = await store.db
    .selectFrom("director_attributes")
    .select("value")
    .where("name", "=", "a")
    .executeTakeFirst();
  return row?.value;
};
const set = (to: string) =>
  store.db.updateTable("director_attributes").set({ value: to }).where("name", "=", "a");
const WRITE = "write update director_attributes";
describe("the points of a store", () => {
  it("include one before and one after a statement of the query builder, which the driver gets as an object", async () => {
    await set("1").execute();
    expect(passed()).toEqual([`before ${WRITE}`, `after ${WRITE}`]);
  });

  it("include one write for a transaction, named after all it writes to", async () => {
    await store.db.transaction().execute(async (tx) => {
      await tx.updateTable("director_attributes").set({ value: "1" }).where("name", "=", "a").execute();
      await tx.insertInto("director_attributes").values({ name: "b", value: "1" }).execute();
    });
    const both = "write insert director_attributes, update director_attributes";
    expect(passed()).toEqual([`before ${both}`, `after ${both}`]);
  });

  it("include one write for a transaction sent in one go, and for a statement that begins with `with`", async () => {
    const client = new pg.Client(database.connection as pg.ClientConfig);
    await client.connect();
    const change = { text: "update director_attributes set value = $1 where name = 'a'", values: ["1"] };
    await Promise.all([client.query("begin"), client.query(change), client.query("commit")]);
    await client.end();
    await store.db
      .with("made", (db) =>
        db.insertInto("director_attributes").values({ name: "c", value: "1" }).returning("name"),
      )
      .selectFrom("made")
      .selectAll()
      .execute();
    const insert = "write insert director_attributes";
    expect(passed()).toEqual([`before ${WRITE}`, `after ${WRITE}`, `before ${insert}`, `after ${insert}`]);
  });

  it("do not include reads, and writes that change nothing or are undone", async () => {
    await value();
    await store.db.transaction().execute(() => value());
    await set("1").where("value", "=", "none").execute();
    const undone = store.db.transaction().execute(async (tx) => {
      await tx.updateTable("director_attributes").set({ value: "1" }).execute();
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    expect(passed()).toEqual([]);
  });

  it("keep their number however often something that changes nothing was tried before", async () => {
    const nthOf = (at: number) => points.passed().at(at)?.nth ?? 0;
    const nothing = () => set("1").where("value", "=", "none").execute();
    await set("1").execute();
    const first = nthOf(-1);
    await nothing();
    await store.db.transaction().execute(async (tx) => {
      await tx.updateTable("director_attributes").set({ value: "1" }).where("value", "=", "none").execute();
    });
    await set("2").execute();
    expect([nthOf(-2), nthOf(-1)]).toEqual([first + 1, first + 1]);
  });

  it("say whether a death there leaves the same as at the point before", async () => {
    const anew = () =>
      points
        .passed()
        .slice(seen)
        .map((point) => point.anew);
    await set("1").execute();
    await set("2").execute();
    files = "another";
    await set("3").execute();
    expect(anew().slice(1)).toEqual([true, false, true, true, true]);
  });

  it("do not include writes of timers, but those after a sleep", async () => {
    const clock = points.clock(systemClock);
    await new Promise<void>((resolve, reject) => {
      clock.after(
        0,
        () =>
          void set("1")
            .execute()
            .then(() => resolve(), reject),
      );
    });
    expect([await value(), passed()]).toEqual(["1", []]);
    await clock.sleep(0);
    await set("2").execute();
    expect(passed()).toEqual([`before ${WRITE}`, `after ${WRITE}`]);
  });

  it("do not include a statement that the server refuses, and the connection goes on", async () => {
    const twice = store.db.insertInto("director_attributes").values({ name: "a", value: "1" });
    await expect(twice.execute()).rejects.toThrow("director_attributes");
    await set("1").execute();
    expect([await value(), passed()]).toEqual(["1", [`before ${WRITE}`, `after ${WRITE}`]]);
  });

  it("are before the write or after it, as their name says", async () => {
    const upload = { name: "sim", version: "1", cpi: "" };
    const insert = () => store.db.insertInto("stemcell_uploads").values(upload).execute();
    const uploads = () => store.db.selectFrom("stemcell_uploads").selectAll().execute();
    dieAt = { name: "before write insert stemcell_uploads", nth: 1 };
    await expect(insert()).rejects.toThrow(Died);
    expect(await uploads()).toEqual([]);
    dieAt = { name: "after write insert stemcell_uploads", nth: 1 };
    await expect(insert()).rejects.toThrow(Died);
    expect(await uploads()).toEqual([upload]);
  });

  it("count all transactions that may change something, also those that are no points", async () => {
    const before = points.transactions();
    await value();
    await set("1").where("value", "=", "none").execute();
    await store.db.selectFrom("director_attributes").selectAll().forShare().execute();
    expect(points.transactions() - before).toBe(2);
  });
});

describe("the points of a world", () => {
  it("are before and after each call to the CPI and each message to an agent", async () => {
    const clients = points.clients({
      cpi: () => Promise.resolve({ result: null, error: null, log: "" }),
      ask: () => Promise.resolve({ value: null }),
    });
    await clients.cpi({ method: "has_vm", arguments: [], context: {} } as never);
    await clients.ask("agent", "ping", []);
    expect(passed()).toEqual([
      "before cpi has_vm",
      "after cpi has_vm",
      "before agent ping",
      "after agent ping",
    ]);
    expect(points.passed().slice(seen).map(kindOf)).toEqual(["cpi", "cpi", "agent", "agent"]);
  });
});
