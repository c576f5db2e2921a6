import { sql } from "kysely";
import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";
import { Sealed } from "./sealed.ts";

/** One version of a variable of the Director's own config server. */
export interface VariableRecord {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly type: string;
  readonly value: unknown;
  readonly options: unknown;
}

const COLUMNS = ["id", "name", "version", "type", "value_sealed", "options_sealed"] as const;

interface Row extends Omit<VariableRecord, "value" | "options"> {
  readonly value_sealed: unknown;
  readonly options_sealed: unknown;
}

const toVariable = ({ value_sealed, options_sealed, ...row }: Row): VariableRecord => ({
  ...row,
  value: value_sealed,
  options: options_sealed,
});

export async function newestVariable(db: Db, name: string): Promise<VariableRecord | undefined> {
  const row = await db
    .selectFrom("variables")
    .select(COLUMNS)
    .where("name", "=", name)
    .orderBy("version", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && toVariable(row);
}

/** Returns the newest version of every certificate. */
export async function newestCertificates(db: Db): Promise<readonly VariableRecord[]> {
  const rows = await db
    .selectFrom("variables")
    .select(COLUMNS)
    .distinctOn("name")
    .where("type", "=", "certificate")
    .orderBy("name")
    .orderBy("version", "desc")
    .execute();
  return rows.map(toVariable);
}

export async function variableById(db: Db, id: string): Promise<VariableRecord | undefined> {
  const row = await db.selectFrom("variables").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && toVariable(row);
}

/** Returns the variable that a request has made already. */
export async function variableOfRequest(
  db: Db,
  name: string,
  requestId: string,
): Promise<VariableRecord | undefined> {
  const row = await db
    .selectFrom("variables")
    .select(COLUMNS)
    .where("name", "=", name)
    .where("request_id", "=", requestId)
    .executeTakeFirst();
  return row && toVariable(row);
}

/** The next version, unless the newest suits meanwhile: then that one. Its id. */
export function saveVariable(
  db: Db,
  made: Omit<VariableRecord, "version"> & { readonly requestId: string },
  suits: (newest: VariableRecord) => boolean,
): Promise<string> {
  return inTransaction(db, async (tx) => {
    // One after the other, or two could both find that no variable exists.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`variable/${made.name}`}, 0))`.execute(tx);
    const same = await variableOfRequest(tx, made.name, made.requestId);
    if (same !== undefined) return same.id;
    const newest = await newestVariable(tx, made.name);
    if (newest !== undefined && suits(newest)) return newest.id;
    await tx
      .insertInto("variables")
      .values({
        id: made.id,
        name: made.name,
        version: (newest?.version ?? 0) + 1,
        type: made.type,
        value_sealed: new Sealed(made.value),
        options_sealed: new Sealed(made.options),
        request_id: made.requestId,
      })
      .execute();
    return made.id;
  });
}
