import { errorText } from "@slipway/kernel/errors";
import { freshDatabase, testSealer } from "@slipway/testkit/database";
import { sampleOf } from "@slipway/testkit/sample";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { latestConfig } from "./configs.ts";
import { findDeployment } from "./deployments.ts";
import { withClient } from "./embedded/probe.ts";
import { DatabaseNewer, MigrationFailed, StoreLost, StoreRefused } from "./errors.ts";
import { MIGRATIONS, migrate } from "./migrations.ts";
import { openStore } from "./open.ts";
import { failure } from "./testing/failure.ts";

let base: Awaited<ReturnType<typeof freshDatabase>>;
beforeEach(async () => {
  base = await freshDatabase();
});
afterEach(() => base.close());

/** Definition of each function by its name. */
async function functionsOf(client: pg.ClientBase): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; text: string }>(
    "select proname as name, pg_get_functiondef(oid) as text from pg_proc where pronamespace = 'public'::regnamespace",
  );
  return Object.fromEntries(rows.map(({ name, text }) => [name, text]));
}

/** Gives the database the functions of a Director that had other bodies for them. Migrations create those of triggers. */
async function replaceByOlderText(client: pg.ClientBase, functions: Record<string, string>): Promise<void> {
  const there = await functionsOf(client);
  for (const [name, text] of Object.entries(functions))
    if (name in there || !text.includes("RETURNS trigger"))
      await client.query(text.replace("AS $function$", "AS $function$\n -- an older text"));
}

const emptied = () =>
  withClient(base.connection, (client) => client.query("drop schema public cascade; create schema public"));

describe("migrations", () => {
  it("have ids that count up from 1", () => {
    const ids = MIGRATIONS.map(({ id }) => id);
    expect(ids[0]).toBe(1);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  });

  it("run once, however many open the store at the same time, and again change nothing", async () => {
    await emptied();
    const ran = await Promise.all(
      [1, 2, 3, 4].map(() => withClient(base.connection, (client) => migrate(client))),
    );
    expect(ran.sort()).toEqual([0, 0, 0, MIGRATIONS.length]);
    await (await openStore({ sealer: testSealer, connection: base.connection })).close();
    const rows = await withClient(base.connection, (client) =>
      client.query("select id, name from migrations order by id"),
    );
    expect(rows.rows).toEqual(MIGRATIONS.map(({ id, name }) => ({ id, name })));
  });

  it.each(sampleOf("migrations", MIGRATIONS.slice(0, -1), 4))(
    "upgrade from version $id ends with the current functions",
    async ({ id }) => {
      const current = await withClient(base.connection, functionsOf);
      await emptied();
      const upgraded = await withClient(base.connection, async (client) => {
        await migrate(
          client,
          MIGRATIONS.filter((migration) => migration.id <= id),
        );
        await replaceByOlderText(client, current);
        await migrate(client);
        return await functionsOf(client);
      });
      expect(upgraded).toEqual(current);
      expect(Object.keys(current)).toContain("write_entry");
    },
  );

  it("applies functions whose text has changed without a migration, and only then", async () => {
    await withClient(base.connection, async (client) => {
      const current = await functionsOf(client);
      const versions = "select array_agg(xmin::text order by oid) as rows from pg_proc";
      const before = (await client.query(versions)).rows;
      await migrate(client);
      expect((await client.query(versions)).rows).toEqual(before);
      await client.query("update migrations set functions = 'another' where functions is not null");
      await replaceByOlderText(client, current);
      expect(await functionsOf(client)).not.toEqual(current);
      expect(await migrate(client)).toBe(0);
      expect(await functionsOf(client)).toEqual(current);
    });
  });

  it("a database of a newer Director is refused and left alone", async () => {
    await withClient(base.connection, (client) =>
      client.query("insert into migrations (id, name) values (999, 'tomorrow')"),
    );
    const error = await failure(openStore({ sealer: testSealer, connection: base.connection }));
    expect(DatabaseNewer.is(error)).toBe(true);
    expect(errorText(error)).toContain("at version 999");
  });

  it("joins providers that a failed deploy has left twice, and keeps the one that was deployed", async () => {
    await emptied();
    const provider = `insert into link_providers (deployment_id, group_name, job, kind, original_name, name, type, shared,
      consumable, custom, properties_sealed, aliases, content_sealed) values (1, 'db', 'db', 'job', 'db', $1, 'sql', true, true,
      false, '', '[]', $2)`;
    const { links, providers } = await withClient(base.connection, async (client) => {
      await migrate(
        client,
        MIGRATIONS.filter(({ id }) => id < 29),
      );
      await client.query("insert into deployments (name, canonical) values ('shop', 'shop')");
      await client.query(provider, ["deployed", "content"]);
      await client.query(provider, ["announced", null]);
      await client.query(`insert into link_consumers (deployment_id, group_name, job, original_name, name, type, optional)
        values (1, 'web', 'web', 'db', 'db', 'sql', false)`);
      await client.query(
        "insert into links (consumer_id, provider_id, name, content_sealed) values (1, 1, 'db', '')",
      );
      await migrate(client);
      return {
        links: (await client.query("select provider_id from links")).rows,
        providers: (await client.query("select id, name from link_providers")).rows,
      };
    });
    expect(providers).toMatchObject([{ name: "deployed" }]);
    expect(links).toEqual([{ provider_id: (providers[0] as { id: unknown }).id }]);
  });

  it("seals what earlier versions kept in plain text, and it is read as before", async () => {
    await emptied();
    const manifest = "name: shop\nproperties: {password: CANARY-manifest}\n";
    const config = "cpis: [{name: a, type: a, properties: {password: CANARY-config}}]\n";
    await withClient(base.connection, async (client) => {
      await migrate(client, MIGRATIONS.slice(0, 3));
      await client.query(
        "insert into deployments (name, canonical, manifest_text) values ('shop', 'shop', $1)",
        [manifest],
      );
      await client.query(`insert into tasks (type, description, username, state, params) values
        ('update_deployment', 'a', 'admin', 'processing', '{"manifest": "CANARY-waiting"}'),
        ('update_deployment', 'b', 'admin', 'done', '{"manifest": "CANARY-over"}')`);
      await client.query(`insert into intents (task_id, deployment, step, intent, state) values
        (1, 'shop', 'create_vm', '{"env": "CANARY-open"}', 'open'),
        (1, 'shop', 'create_vm', '{"env": "CANARY-closed"}', 'done')`);
      await client.query("insert into configs (type, name, content) values ('cpi', 'default', $1)", [config]);
    });
    const store = await openStore({ sealer: testSealer, connection: base.connection });
    const kept = await withClient(base.connection, (client) =>
      client.query(`select (select json_agg(t) from tasks t)::text || (select json_agg(i) from intents i)::text
        || (select json_agg(d) from deployments d)::text || (select json_agg(c) from configs c)::text as all`),
    );
    expect(JSON.stringify(kept.rows)).not.toContain("CANARY");
    expect(await store.db.selectFrom("tasks").select("params_sealed").orderBy("id").execute()).toEqual([
      { params_sealed: { manifest: "CANARY-waiting" } },
      { params_sealed: {} },
    ]);
    expect(await store.db.selectFrom("intents").select(["step", "intent_sealed"]).execute()).toEqual([
      { step: "create_vm", intent_sealed: { env: "CANARY-open" } },
    ]);
    expect((await findDeployment(store.db, "shop"))?.manifestText).toBe(manifest);
    expect((await latestConfig(store.db, "cpi", "default"))?.content).toBe(config);
    await store.close();
  });

  it("a Director that died between migrating and sealing is made up for at the next start", async () => {
    await emptied();
    await withClient(base.connection, async (client) => {
      await migrate(client, MIGRATIONS.slice(0, 4));
      await client.query("insert into configs (type, name, content) values ('cpi', 'default', 'CANARY')");
      await migrate(client);
    });
    await (await openStore({ sealer: testSealer, connection: base.connection })).close();
    const kept = await withClient(base.connection, (client) =>
      client.query("select content_sealed from configs"),
    );
    expect(JSON.stringify(kept.rows)).not.toContain("CANARY");
  });

  it("one that fails leaves the database as it was", async () => {
    const next = (MIGRATIONS.at(-1)?.id ?? 0) + 1;
    const broken = [...MIGRATIONS, { id: next, name: "broken", sql: "create table halfway (); select 1/0" }];
    await withClient(base.connection, async (client) => {
      expect(MigrationFailed.is(await failure(migrate(client, broken)))).toBe(true);
      expect((await client.query("select to_regclass('halfway') as there")).rows).toEqual([{ there: null }]);
      expect(await migrate(client)).toBe(0);
    });
  });
});

describe("the store", () => {
  it("reads 64-bit integers as numbers, without changing that for others in the process", async () => {
    const row = await base.db
      .selectFrom("tasks")
      .select((e) => e.fn.countAll<number>().as("n"))
      .executeTakeFirst();
    expect(row).toEqual({ n: 0 });
    const plain = await withClient(base.connection, (client) =>
      client.query("select count(*) as n from tasks"),
    );
    expect(plain.rows).toEqual([{ n: "0" }]);
    expect(pg.types.getTypeParser(20)("1")).toBe("1");
  });

  it("a server that is not there is an outside error with a code", async () => {
    const error = await failure(
      openStore({ sealer: testSealer, connection: { ...base.connection, host: "/nowhere" } }),
    );
    expect(StoreLost.is(error)).toBe(true);
    expect(error).toMatchObject({ kind: "outside" });
  });

  it("a database that is not there is the operator's to put right", async () => {
    const error = await failure(
      openStore({ sealer: testSealer, connection: { ...base.connection, database: "elsewhere" } }),
    );
    expect(StoreRefused.is(error)).toBe(true);
  });

  it("outlives connections that are cut: idle, and in the middle of a transaction", async () => {
    const idle: Error[] = [];
    const store = await openStore({
      sealer: testSealer,
      connection: base.connection,
      onIdleError: (error) => idle.push(error),
    });
    await store.db.selectFrom("tasks").selectAll().execute();
    const cut = () =>
      withClient(base.connection, (client) =>
        client.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'slipway-director' and pid <> pg_backend_pid() and datname = current_database()",
        ),
      );
    await cut();
    await expect.poll(() => idle.length).toBeGreaterThan(0);
    const error = await failure(
      store.db.transaction().execute(async (tx) => {
        await tx.insertInto("director_attributes").values({ name: "a", value: "1" }).execute();
        await cut();
        await tx.insertInto("director_attributes").values({ name: "b", value: "2" }).execute();
      }),
    );
    expect(StoreLost.is(error), errorText(error)).toBe(true);
    expect(await store.db.selectFrom("director_attributes").selectAll().execute()).toEqual([]);
    await store.close();
  });
});
