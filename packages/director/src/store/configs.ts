import { sql } from "kysely";
import { inTransaction } from "./open.ts";
import type { Db } from "./schema.ts";
import { Sealed } from "./sealed.ts";

export interface ConfigRecord {
  readonly id: number;
  readonly type: string;
  readonly name: string;
  readonly content: string;
  readonly team: string | null;
  readonly createdAt: number;
  readonly deleted: boolean;
  /** The newest of its type and name that is not deleted. */
  readonly current: boolean;
}

interface ConfigRow extends Omit<ConfigRecord, "createdAt" | "content"> {
  readonly content_sealed: string;
  readonly created_at: Date;
}

const toConfig = ({ created_at, content_sealed, ...row }: ConfigRow): ConfigRecord => ({
  ...row,
  content: content_sealed,
  createdAt: created_at.getTime(),
});

const columns = sql`c.id, c.type, c.name, c.content_sealed, c.team, c.created_at, c.deleted,
  not c.deleted and not exists (select 1 from configs n
    where n.type = c.type and n.name = c.name and not n.deleted and n.id > c.id) as current`;

export type SavedConfig =
  | { readonly ok: true; readonly config: ConfigRecord; readonly created: boolean }
  /** Another change was faster; 0 if the config does not exist. */
  | { readonly ok: false; readonly latestId: number };

/**
 * Saves a config. Content that is already current makes no new version. `expectedLatestId` 0 means that no config exists. A
 * config stays with its team, also after changes by other users.
 */
export function saveConfig(
  db: Db,
  given: {
    readonly type: string;
    readonly name: string;
    readonly content: string;
    /** Team of a new config. */
    readonly team?: string | undefined;
    readonly expectedLatestId?: number | undefined;
    /** Throws where this one must not be changed. */
    readonly mayChange?: ((latest: ConfigRecord) => void) | undefined;
  },
): Promise<SavedConfig> {
  return inTransaction(db, async (tx): Promise<SavedConfig> => {
    // One after the other, or two could both find that they are the next.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`config/${given.type}/${given.name}`}, 0))`.execute(
      tx,
    );
    const latest = await latestConfig(tx, given.type, given.name);
    if (latest !== undefined) given.mayChange?.(latest);
    const latestId = latest?.id ?? 0;
    if (given.expectedLatestId !== undefined && given.expectedLatestId !== latestId)
      return { ok: false, latestId };
    if (latest !== undefined && latest.content === given.content)
      return { ok: true, config: latest, created: false };
    const { id } = await tx
      .insertInto("configs")
      .values({
        type: given.type,
        name: given.name,
        content_sealed: new Sealed(given.content),
        team: latest === undefined ? (given.team ?? null) : latest.team,
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    const [config] = await findConfigs(tx, [id]);
    if (config === undefined) throw new Error("bug: a config is gone right after it was saved");
    return { ok: true, config, created: true };
  });
}

export async function latestConfig(db: Db, type: string, name: string): Promise<ConfigRecord | undefined> {
  return (await listConfigs(db, { type, name, limit: 1 }))[0];
}

/** Ids and teams of the newest configs of the type that are not deleted; their contents are not decrypted. */
export async function currentConfigs(db: Db, type: string): Promise<Pick<ConfigRecord, "id" | "team">[]> {
  return await db
    .selectFrom("configs")
    .distinctOn("name")
    .select(["id", "team"])
    .where("type", "=", type)
    .where("deleted", "=", false)
    .orderBy("name")
    .orderBy("id", "desc")
    .execute();
}

/** Returns the configs with these ids, deleted ones too, in the order of their ids. */
export async function findConfigs(db: Db, ids: readonly number[]): Promise<ConfigRecord[]> {
  const { rows } = await sql<ConfigRow>`select ${columns} from configs c
    where c.id = any(${[...ids]}::bigint[]) order by c.id`.execute(db);
  return rows.map(toConfig);
}

/** Lists configs by type, then by name with `default` first, then newest first; `limit` counts per type and name. */
export async function listConfigs(
  db: Db,
  filter: {
    readonly type?: string | undefined;
    readonly name?: string | undefined;
    readonly limit?: number | undefined;
    /** Limits the list to configs of these teams and those without a team. */
    readonly teams?: readonly string[] | undefined;
  },
): Promise<ConfigRecord[]> {
  const { rows } = await sql<ConfigRow>`
    select ${columns} from (
      select *, row_number() over (partition by type, name order by id desc) as nth
      from configs
      where not deleted
        and ${filter.type === undefined ? sql`true` : sql`type = ${filter.type}`}
        and ${filter.name === undefined ? sql`true` : sql`name = ${filter.name}`}
        and ${filter.teams === undefined ? sql`true` : sql`(team is null or team = any(${[...filter.teams]}::text[]))`}
    ) c
    where ${filter.limit === undefined ? sql`true` : sql`c.nth <= ${filter.limit}`}
    order by c.type, c.name <> 'default', c.name, c.id desc`.execute(db);
  return rows.map(toConfig);
}

/** Flags them as deleted; how many there were. All versions of a type and name, or one id. */
export async function deleteConfigs(
  db: Db,
  which: { readonly type: string; readonly name: string } | { readonly id: number },
): Promise<number> {
  const open = db.updateTable("configs").set({ deleted: true }).where("deleted", "=", false);
  const result =
    "id" in which
      ? await open.where("id", "=", which.id).executeTakeFirst()
      : await open.where("type", "=", which.type).where("name", "=", which.name).executeTakeFirst();
  return Number(result.numUpdatedRows);
}
