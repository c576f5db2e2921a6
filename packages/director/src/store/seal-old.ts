import { isSealed, type Sealer } from "@slipway/kernel/sealer";
import type pg from "pg";

const PLACES = [
  { table: "tasks", column: "params_sealed", key: "id" },
  { table: "vms", column: "env_sealed", key: "id" },
  { table: "deployments", column: "manifest_sealed", key: "id" },
  { table: "intents", column: "intent_sealed", key: "ctid" },
  { table: "configs", column: "content_sealed", key: "id" },
] as const;

/** Seals what an earlier version wrote in plain text, once after each migration. Harmless twice. */
export async function sealOld(client: pg.ClientBase, sealer: Sealer): Promise<void> {
  const due = await client.query("select 1 from migrations where not sealed limit 1");
  if (due.rowCount === 0) return;
  let sealed = 0;
  for (const { table, column, key } of PLACES) {
    const { rows } = await client.query<{ key: string; value: string }>(
      `select ${key}::text as key, ${column} as value from ${table} where ${column} not like 'sealed:%'`,
    );
    for (const { key: which, value } of rows)
      if (!isSealed(value)) {
        sealed += 1;
        await client.query(`update ${table} set ${column} = $1 where ${key}::text = $2`, [
          sealer.seal(value),
          which,
        ]);
      }
  }
  // Otherwise the plain rows would stay in the files for some time.
  if (sealed > 0) await client.query(`vacuum full ${PLACES.map(({ table }) => table).join(", ")}`);
  await client.query("update migrations set sealed = true where not sealed");
}
