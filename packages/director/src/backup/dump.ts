import pg from "pg";
import type { Rows } from "./format.ts";

export interface Table {
  readonly name: string;
  readonly columns: readonly string[];
}

/** View of the database at one moment, without what is committed later. */
export interface Snapshot {
  readonly migration: number;
  readonly directorUuid: string;
  readonly takenAt: string;
  readonly tables: readonly Table[];
}

/** Table that migrations make, here and where the backup is restored. */
const NOT_DATA = "migrations";
const ROWS_AT_ONCE = 200;
const CHUNK = 4 << 20;

/** Begins a transaction that sees the database of this moment until it ends. It blocks no other transaction. */
export async function openSnapshot(client: pg.ClientBase): Promise<Snapshot> {
  await client.query("begin transaction isolation level repeatable read read only");
  await client.query(
    "set local timezone = 'UTC'; set local bytea_output = 'hex'; set local datestyle = 'ISO'",
  );
  const { rows: found } = await client.query<{ migration: number; uuid: string | null; at: string }>(
    `select max(id) as migration,
       (select value from director_attributes where name = 'uuid') as uuid,
       to_char(now(), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from migrations`,
  );
  const [seen] = found;
  return {
    migration: seen?.migration ?? 0,
    directorUuid: seen?.uuid ?? "",
    takenAt: seen?.at ?? "",
    tables: (await parentsFirst(client)).filter(({ name }) => name !== NOT_DATA),
  };
}

/** Returns the tables in an order in which loading them breaks no foreign key. */
async function parentsFirst(client: pg.ClientBase): Promise<readonly Table[]> {
  const { rows } = await client.query<{ child: string; parent: string }>(
    `select c.relname as child, p.relname as parent from pg_constraint k
     join pg_class c on c.oid = k.conrelid join pg_class p on p.oid = k.confrelid
     where k.contype = 'f' and k.connamespace = current_schema()::regnamespace and c.oid <> p.oid`,
  );
  const placed: Table[] = [];
  let left = await tablesOf(client);
  while (left.length > 0) {
    const waits = new Set(left.map(({ name }) => name));
    const next = left.filter(
      ({ name }) => !rows.some(({ child, parent }) => child === name && waits.has(parent)),
    );
    if (next.length === 0) throw new Error(`bug: keys in a circle: ${[...waits].join(", ")}`);
    placed.push(...next);
    left = left.filter((one) => !next.includes(one));
  }
  return placed;
}

/** Returns the tables of our schema, with the columns that are not generated. */
export async function tablesOf(client: pg.ClientBase): Promise<readonly Table[]> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select c.relname as name,
       array_agg(a.attname::text order by a.attnum) filter (where a.attgenerated = '') as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
     group by c.relname order by c.relname`,
  );
  return rows;
}

/** All rows of a table, some at a time. Each value as the database prints it, which it reads back without loss. */
export async function* dumpTable(client: pg.ClientBase, { name, columns }: Table): AsyncGenerator<Rows> {
  const values = columns.map((column) => `${pg.escapeIdentifier(column)}::text`).join(", ");
  await client.query(
    `declare slipway_dump no scroll cursor for select array[${values}] as row from ${pg.escapeIdentifier(name)}`,
  );
  let waiting: (string | null)[][] = [];
  let size = 0;
  for (;;) {
    const { rows } = await client.query<{ row: (string | null)[] }>(
      `fetch ${ROWS_AT_ONCE} from slipway_dump`,
    );
    for (const { row } of rows) {
      waiting.push(row);
      size += row.reduce((sum, value) => sum + (value?.length ?? 4), 0);
      if (size < CHUNK) continue;
      yield { columns: [...columns], rows: waiting };
      [waiting, size] = [[], 0];
    }
    if (rows.length === 0) break;
  }
  if (waiting.length > 0) yield { columns: [...columns], rows: waiting };
  await client.query("close slipway_dump");
}

/** Returns the last values of the sequences. Read last: sequences know no transactions, and run ahead of their tables. */
export async function sequencesOf(client: pg.ClientBase): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; value: string }>(
    `select sequencename as name, last_value::text as value from pg_sequences
     where schemaname = current_schema() and last_value is not null`,
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/** Ids of blobs that the rows name. */
export async function blobsOf(client: pg.ClientBase, tables: readonly Table[]): Promise<readonly string[]> {
  const holders = tables.filter(({ columns }) => columns.includes("blob_id"));
  const all: string[] = [];
  for (const { name } of holders) {
    const { rows } = await client.query<{ id: string }>(
      `select distinct blob_id as id from ${pg.escapeIdentifier(name)} where blob_id is not null`,
    );
    all.push(...rows.map(({ id }) => id));
  }
  return all;
}
