import type pg from "pg";
import { DatabaseNewer, MigrationFailed } from "./errors.ts";
import { core } from "./migrations/0001-core.ts";
import { refuse } from "./migrations/0002-refuse.ts";
import { problems } from "./migrations/0003-problems.ts";
import { spine } from "./migrations/0004-spine.ts";

export interface Migration {
  readonly id: number;
  readonly name: string;
  readonly sql: string;
}

/** Only ever appended to: what has run somewhere is not changed. */
export const MIGRATIONS: readonly Migration[] = [
  { id: 1, name: "core", sql: core },
  { id: 2, name: "refuse", sql: refuse },
  { id: 3, name: "problems", sql: problems },
  { id: 4, name: "spine", sql: spine },
];

/** Any number, the same for all Directors. */
const LOCK = 732_045_001;

/** Brings the database to the newest version, one transaction for all of it. Directors that start together queue. */
export async function migrate(client: pg.ClientBase, migrations = MIGRATIONS): Promise<number> {
  const knows = migrations.at(-1)?.id ?? 0;
  if ((await versionOf(client)) === knows) return 0;
  let at: Migration | undefined;
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock($1)", [LOCK]);
    await client.query(
      "create table if not exists migrations (id integer primary key, name text not null, applied_at timestamptz not null default now())",
    );
    const has = await versionOf(client);
    if (has > knows) throw DatabaseNewer({ has, knows });
    const missing = migrations.filter((migration) => migration.id > has);
    for (const migration of missing) {
      at = migration;
      await client.query(migration.sql);
      await client.query("insert into migrations (id, name) values ($1, $2)", [migration.id, migration.name]);
    }
    await client.query("commit");
    return missing.length;
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    if (at === undefined) throw error;
    throw MigrationFailed({ id: at.id, name: at.name }, { cause: error });
  }
}

async function versionOf(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ there: boolean }>(
    "select to_regclass('migrations') is not null as there",
  );
  if (rows[0]?.there !== true) return 0;
  const found = await client.query<{ id: number | null }>("select max(id) as id from migrations");
  return found.rows[0]?.id ?? 0;
}
