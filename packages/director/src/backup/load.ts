import pg from "pg";
import { MIGRATIONS, migrateWithin } from "../store/migrations.ts";
import { afterRestore } from "../store/restores.ts";
import { tablesOf } from "./dump.ts";
import { DatabaseThere } from "./errors.ts";
import type { Manifest, Rows } from "./format.ts";

/** Rows of a table, some at a time. */
export type Loaded = AsyncIterable<{ readonly table: string; readonly rows: Rows }>;

/**
 * Fills an empty database in one transaction: loads the tables as they were, migrates them to the newest version, and marks them
 * as restored. A database that was filled from the same backup and not used since is left as it is.
 */
export async function load(client: pg.ClientBase, manifest: Manifest, rows: Loaded): Promise<void> {
  await client.query("begin");
  try {
    if (await mustFill(client, manifest)) await fill(client, manifest, rows);
    else for await (const _ of rows);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

/**
 * Reports whether the database must be filled: false if a restore of this backup that was killed has done so. Called before
 * anything is read, too.
 */
export async function mustFill(client: pg.ClientBase, { id }: Manifest): Promise<boolean> {
  const there = await tablesOf(client);
  if (there.length === 0) return true;
  if (there.some(({ name }) => name === "restores")) {
    const { rows } = await client.query<{ backup: string; started: boolean }>(
      "select backup, started_at is not null as started from restores order by id desc limit 1",
    );
    if (rows[0]?.backup === id && !rows[0].started) return false;
  }
  throw DatabaseThere({ tables: there.length });
}

async function fill(client: pg.ClientBase, manifest: Manifest, loaded: Loaded): Promise<void> {
  await client.query("set local timezone = 'UTC'; set local datestyle = 'ISO'");
  const { migration, sequences } = manifest;
  await migrateWithin(
    client,
    MIGRATIONS.filter(({ id }) => id <= migration),
  );
  const tables = (await tablesOf(client)).map(({ name }) => name).filter((name) => name !== "migrations");
  await client.query(`truncate ${tables.map(pg.escapeIdentifier).join(", ")} cascade`);
  for (const name of tables) await quiet(client, name, true);
  const types = await typesOf(client);
  for await (const { table, rows } of loaded) await insert(client, table, rows, types);
  for (const [name, value] of Object.entries(sequences))
    await client.query("select setval(format('%I', $1::text)::regclass, $2)", [name, value]);
  for (const name of tables) await quiet(client, name, false);
  await migrateWithin(client);
  await afterRestore(client, { backup: manifest.id, takenAt: manifest.taken_at });
}

/** Disables the triggers of a table: what its rows once caused has been done. Foreign keys are still checked at the end. */
async function quiet(client: pg.ClientBase, table: string, yes: boolean): Promise<void> {
  const name = pg.escapeIdentifier(table);
  await client.query(`alter table ${name} ${yes ? "disable" : "enable"} trigger user`);
}

const typesOf = async (client: pg.ClientBase): Promise<ReadonlyMap<string, string>> => {
  const { rows } = await client.query<{ column: string; type: string }>(
    `select c.relname || '.' || a.attname as column, format_type(a.atttypid, a.atttypmod) as type
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'`,
  );
  return new Map(rows.map(({ column, type }) => [column, type]));
};

async function insert(
  client: pg.ClientBase,
  table: string,
  { columns, rows }: Rows,
  types: ReadonlyMap<string, string>,
): Promise<void> {
  const names = columns.map(pg.escapeIdentifier).join(", ");
  // The types are this database's own: nothing of the file is taken as SQL.
  const values = columns.map((column, at) => `(r ->> ${at})::${types.get(`${table}.${column}`) ?? "text"}`);
  await client.query(
    `insert into ${pg.escapeIdentifier(table)} (${names}) overriding system value
     select ${values.join(", ")} from json_array_elements($1::json) r`,
    [JSON.stringify(rows)],
  );
}
