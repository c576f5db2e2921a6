import { freshDatabase } from "@slipway/testkit/database";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listDeployments, summarizeDeployments } from "./deployments.ts";
import { type EventFilter, listEvents } from "./events.ts";
import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";
import { failure } from "./testing/failure.ts";

let base: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  base = await freshDatabase();
});
afterAll(() => base.close());

const COUNT = 20_000;
const PAGE = 200;
/** Event `n` is `n` minutes later than this. */
const BEGIN = Date.UTC(2030, 0, 1);
const minute = (n: number) => BEGIN + n * 60_000;

describe("events", () => {
  beforeAll(async () => {
    await sql`insert into events (at, username, action, object_type, object_name, task_id, deployment, instance)
      select to_timestamp(${BEGIN / 1000}) + n * interval '1 minute', 'user-' || n % 400, 'update', 'instance',
        'object-' || n % 500, n / 10, 'deployment-' || n % 300, 'web/' || n % 600
      from generate_series(1, ${COUNT}::int) n`.execute(base.db);
    await sql`analyze events`.execute(base.db);
  });

  const soFar = async (tx: Db): Promise<number> => {
    const { rows } = await sql<{ read: number }>`
      select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read
      from pg_stat_xact_user_tables where relname = 'events'`.execute(tx);
    return rows[0]?.read ?? 0;
  };

  /** Counts the rows of the table that the database reads to answer. */
  const rowsRead = (filter: EventFilter): Promise<{ read: number; found: number }> =>
    inTransaction(base.db, async (tx) => {
      const before = await soFar(tx);
      const found = (await listEvents(tx, filter)).length;
      return { read: (await soFar(tx)) - before, found };
    });

  it.each<[string, EventFilter]>([
    ["an instance", { instance: "web/7" }],
    ["an instance without events", { instance: "web/none" }],
    ["a user", { user: "user-7" }],
    ["a user without events", { user: "nobody" }],
    ["an object", { objectName: "object-7" }],
    ["a deployment", { deployment: "deployment-7" }],
    ["a task", { task: 7 }],
    ["the time before", { beforeTime: minute(COUNT / 2) }],
    ["a time that is long ago", { beforeTime: minute(100) }],
    ["the time after", { afterTime: minute(COUNT / 2) }],
    ["a time that is just over", { afterTime: minute(COUNT - 10) }],
    ["a short time", { afterTime: minute(COUNT / 2), beforeTime: minute(COUNT / 2 + 20) }],
    ["the page before an event", { beforeId: COUNT / 2, beforeTime: minute(COUNT / 2 + 1) }],
  ])("are found by %s without reading all of them", async (_, filter) => {
    const { read, found } = await rowsRead(filter);
    expect(found).toBeLessThanOrEqual(PAGE);
    expect(read).toBeLessThanOrEqual(2 * PAGE);
  });

  it("are listed newest first by id, also between two times", async () => {
    const found = await listEvents(base.db, { afterTime: minute(100), beforeTime: minute(104) });
    expect(found.map(({ at }) => at)).toEqual([103, 102, 101, 100].map(minute));
    expect(found.map(({ id }) => id)).toEqual([103, 102, 101, 100]);
  });
});

describe("deployments", () => {
  it("are summarized without decrypting their manifests", async () => {
    await sql`insert into deployments (name, canonical, manifest_sealed)
      values ('shop', 'shop', 'sealed:damaged')`.execute(base.db);
    await failure(listDeployments(base.db));
    expect(await summarizeDeployments(base.db)).toMatchObject([{ name: "shop", releases: [] }]);
  });
});
