import type { GroupName } from "@slipway/engine/model/names";
import { emptied, freshDatabase } from "@slipway/testkit/database";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureDeployment } from "./deployments.ts";
import { IpTaken } from "./errors.ts";
import { createInstances, loadInstances } from "./instances.ts";
import type { Db } from "./schema.ts";
import { failure } from "./testing/failure.ts";
import { ip, newInstance, shop, uuid } from "./testing/samples.ts";

let base: Awaited<ReturnType<typeof freshDatabase>>;
let db: Db;
beforeAll(async () => {
  base = await freshDatabase();
  db = base.db;
});
afterAll(() => base.close());
beforeEach(() => emptied(base.connection));

/** Reserves addresses for one instance of a deployment. */
async function reserve(deployment: string, ...addresses: readonly string[]): Promise<unknown> {
  await ensureDeployment(db, deployment);
  const one = newInstance(0, { uuid: uuid(deployment), ips: addresses.map((address) => ip(address)) });
  return await failure(createInstances(db, deployment, 2, [one]));
}

describe("a prefix that is reserved", () => {
  it.each([
    ["10.0.0.16/28", "10.0.0.20"],
    ["10.0.0.20", "10.0.0.16/28"],
    ["10.0.0.16/28", "10.0.0.24/29"],
    ["10.0.0.24/29", "10.0.0.16/28"],
    ["fd00::/80", "fd00::7"],
    ["fd00::7", "fd00::/80"],
  ])("is not available in part: %s and then %s", async (held, wanted) => {
    await shop(db, newInstance(0, { ips: [ip(held)] }));
    const error = await reserve("zoo", "10.9.0.1", wanted);
    expect(IpTaken.is(error)).toBe(true);
    expect(String(error)).toContain(
      `${wanted} for zoo is taken by ${held} of instance web/uuid-0 of deployment shop`,
    );
    expect(await loadInstances(db, "zoo")).toEqual([]);
  });

  it.each([
    ["10.0.0.16/28", "10.0.0.32"],
    ["10.0.0.16/28", "10.0.0.8/29"],
    ["fd00::/80", "fd00::1:0:0:0"],
    ["0.0.0.0/8", "fd00::/64"],
  ])("leaves the rest alone: %s and %s", async (held, wanted) => {
    await shop(db, newInstance(0, { ips: [ip(held)] }));
    expect(await reserve("zoo", wanted)).toBe("no error");
  });

  it("may be larger or smaller than what the same instance gives up for it", async () => {
    await shop(db, newInstance(0, { ips: [ip("10.0.0.16")] }));
    for (const address of ["10.0.0.16/29", "10.0.0.16/28"])
      await createInstances(db, "shop", 2, [newInstance(0, { ips: [ip(address)] })]);
    const [one] = await loadInstances(db, "shop");
    expect(one?.ips.map(({ address }) => address)).toEqual(["10.0.0.16", "10.0.0.16/28", "10.0.0.16/29"]);
  });

  it("is not two instances' of one deployment", async () => {
    const error = await failure(
      shop(
        db,
        newInstance(0, { ips: [ip("10.0.0.16/28")] }),
        newInstance(1, { group: "db" as GroupName, ips: [ip("10.0.0.17")] }),
      ),
    );
    expect(IpTaken.is(error)).toBe(true);
  });

  it("is waited for while another deployment is about to take a part of it", async () => {
    await ensureDeployment(db, "first");
    const part = newInstance(0, { uuid: uuid("first"), ips: [ip("10.0.0.20")] });
    const { second } = await db.transaction().execute(async (tx) => {
      await createInstances(tx, "first", 1, [part]);
      let over = false;
      const trying = reserve("second", "10.0.0.16/28").finally(() => {
        over = true;
      });
      // Until it waits, or is through.
      while (!over && !(await somebodyWaits()));
      return { second: trying };
    });
    expect(IpTaken.is(await second)).toBe(true);
  });
});

const somebodyWaits = async (): Promise<boolean> => {
  const { rows } = await sql`
    select from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`.execute(db);
  return rows.length > 0;
};
