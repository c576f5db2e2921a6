import { isSealed, type Sealer } from "@slipway/kernel/sealer";
import pg from "pg";
import { OtherKey } from "./errors.ts";

/** Name of the proof among the identities. */
const NAME = "secrets.key";
const PROOF = "the key of this database";

/**
 * Refuses a key that the database was not written with. The proof is a known text, encrypted with the key, so it says
 * nothing about the key. A database that has none, of an earlier version, gets the proof of a key that opens its rows.
 */
export async function checkKey(client: pg.ClientBase, sealer: Sealer): Promise<void> {
  if (opens(sealer, await proofIn(client))) return;
  const samples = await sampleValues(client);
  const opened = samples.filter((sample) => opens(sealer, sample));
  if (samples.length > 0 && opened.length === 0) throw OtherKey({});
  await client.query("insert into identities (name, value) values ($1, $2) on conflict do nothing", [
    NAME,
    sealer.seal(PROOF),
  ]);
  // Another Director may have been first.
  if (!opens(sealer, await proofIn(client))) throw OtherKey({});
}

async function proofIn(client: pg.ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{ value: string }>("select value from identities where name = $1", [
    NAME,
  ]);
  return rows[0]?.value;
}

function opens(sealer: Sealer, sealed: string | undefined): boolean {
  if (sealed === undefined) return false;
  try {
    sealer.open(sealed);
    return true;
  } catch {
    return false;
  }
}

/** Returns one encrypted value of each column that has some. */
async function sampleValues(client: pg.ClientBase): Promise<readonly string[]> {
  const { rows: columns } = await client.query<{ table: string; column: string }>(
    `select table_name::text as table, column_name::text as column from information_schema.columns
     where table_schema = current_schema() and column_name like '%\\_sealed'`,
  );
  const samples: string[] = [];
  for (const { table, column } of columns) {
    const name = pg.escapeIdentifier(column);
    const { rows } = await client.query<{ value: string }>(
      `select ${name}::text as value from ${pg.escapeIdentifier(table)} where ${name}::text like 'sealed:%' limit 1`,
    );
    samples.push(...rows.map(({ value }) => value).filter(isSealed));
  }
  return samples;
}
