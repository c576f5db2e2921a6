import type pg from "pg";
import { DatabaseNewer, MigrationFailed } from "./errors.ts";
import { FUNCTIONS, FUNCTIONS_DIGEST } from "./functions.ts";
import { core } from "./migrations/0001-core.ts";
import { problems } from "./migrations/0003-problems.ts";
import { spine } from "./migrations/0004-spine.ts";
import { configs } from "./migrations/0005-configs.ts";
import { releases } from "./migrations/0006-releases.ts";
import { variables } from "./migrations/0007-variables.ts";
import { compilation } from "./migrations/0008-compilation.ts";
import { dns } from "./migrations/0009-dns.ts";
import { links } from "./migrations/0010-links.ts";
import { snapshots } from "./migrations/0011-snapshots.ts";
import { namedDisks } from "./migrations/0012-named-disks.ts";
import { health } from "./migrations/0013-health.ts";
import { agentEnv } from "./migrations/0014-agent-env.ts";
import { natsTrust } from "./migrations/0015-nats-trust.ts";
import { teams } from "./migrations/0016-teams.ts";
import { eventParents } from "./migrations/0018-event-parents.ts";
import { networks } from "./migrations/0019-networks.ts";
import { keeping } from "./migrations/0020-keeping.ts";
import { restores } from "./migrations/0021-restores.ts";
import { traceParents } from "./migrations/0022-trace-parents.ts";
import { diskClaims } from "./migrations/0023-disk-claims.ts";
import { deletionClaims } from "./migrations/0024-deletion-claims.ts";
import { identities } from "./migrations/0026-identities.ts";
import { retiredBlobsAndLinkOwners } from "./migrations/0027-retired-blobs-and-link-owners.ts";
import { errandInstances } from "./migrations/0028-errand-instances.ts";
import { linkIdentities } from "./migrations/0029-link-identities.ts";
import { eventIndexes } from "./migrations/0030-event-indexes.ts";
import { refusedIntents } from "./migrations/0031-refused-intents.ts";

export interface Migration {
  readonly id: number;
  readonly name: string;
  readonly sql: string;
}

/**
 * Migrations. The list is only ever appended to: what has run somewhere is not changed. Functions are in `functions.ts`; a
 * migration whose SQL is empty changed only functions, and keeps its number for databases that have run it.
 */
export const MIGRATIONS: readonly Migration[] = [
  { id: 1, name: "core", sql: core },
  { id: 2, name: "refuse", sql: "" },
  { id: 3, name: "problems", sql: problems },
  { id: 4, name: "spine", sql: spine },
  { id: 5, name: "configs", sql: configs },
  { id: 6, name: "releases", sql: releases },
  { id: 7, name: "variables", sql: variables },
  { id: 8, name: "compilation", sql: compilation },
  { id: 9, name: "dns", sql: dns },
  { id: 10, name: "links", sql: links },
  { id: 11, name: "snapshots", sql: snapshots },
  { id: 12, name: "named-disks", sql: namedDisks },
  { id: 13, name: "health", sql: health },
  { id: 14, name: "agent-env", sql: agentEnv },
  { id: 15, name: "nats-trust", sql: natsTrust },
  { id: 16, name: "teams", sql: teams },
  { id: 17, name: "cpi-names", sql: "" },
  { id: 18, name: "event-parents", sql: eventParents },
  { id: 19, name: "networks", sql: networks },
  { id: 20, name: "keeping", sql: keeping },
  { id: 21, name: "restores", sql: restores },
  { id: 22, name: "trace-parents", sql: traceParents },
  { id: 23, name: "disk-claims", sql: diskClaims },
  { id: 24, name: "deletion-claims", sql: deletionClaims },
  { id: 26, name: "identities", sql: identities },
  { id: 27, name: "retired-blobs-and-link-owners", sql: retiredBlobsAndLinkOwners },
  { id: 28, name: "errand-instances", sql: errandInstances },
  { id: 29, name: "link-identities", sql: linkIdentities },
  { id: 30, name: "event-indexes", sql: eventIndexes },
  { id: 31, name: "refused-intents", sql: refusedIntents },
];

/** Key of the lock: any number, the same for all Directors. */
const LOCK = 732_045_001;

/**
 * Brings the database to the newest version, one transaction for all of it. Directors that start together queue. Returns how
 * many migrations have run.
 */
export async function migrate(client: pg.ClientBase, migrations = MIGRATIONS): Promise<number> {
  const { version, functions } = await stateOf(client);
  if (version === newestOf(migrations) && functions === FUNCTIONS_DIGEST) return 0;
  try {
    await client.query("begin");
    const done = await migrateWithin(client, migrations);
    await client.query("commit");
    return done;
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}

const newestOf = (migrations: readonly Migration[]): number => migrations.at(-1)?.id ?? 0;

/** The same in the transaction at hand. */
export async function migrateWithin(
  client: pg.ClientBase,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<number> {
  await client.query("select pg_advisory_xact_lock($1)", [LOCK]);
  await client.query(
    `create table if not exists migrations (id integer primary key, name text not null, applied_at timestamptz not null default now());
     alter table migrations add column if not exists functions text`,
  );
  const [state, knows] = [await stateOf(client), newestOf(migrations)];
  if (state.version > knows) throw DatabaseNewer({ has: state.version, knows });
  const missing = migrations.filter((migration) => migration.id > state.version);
  for (const { id, name, sql } of missing)
    try {
      await client.query(sql);
      await client.query("insert into migrations (id, name) values ($1, $2)", [id, name]);
    } catch (cause) {
      throw MigrationFailed({ id, name }, { cause });
    }
  // The functions are written for the newest tables.
  if (knows >= newestOf(MIGRATIONS) && (missing.length > 0 || state.functions !== FUNCTIONS_DIGEST)) {
    await client.query(FUNCTIONS);
    await client.query("update migrations set functions = $2 where id = $1", [knows, FUNCTIONS_DIGEST]);
  }
  return missing.length;
}

/** Newest migration that has run, and digest of the functions that were applied with it. */
async function stateOf(
  client: pg.ClientBase,
): Promise<{ readonly version: number; readonly functions: string | null }> {
  const { rows } = await client.query<{ there: boolean }>(
    "select to_regclass('migrations') is not null as there",
  );
  if (rows[0]?.there !== true) return { version: 0, functions: null };
  // By way of JSON, since Directors before the column `functions` have made the table without it.
  const found = await client.query<{ version: number; functions: string | null }>(
    "select id as version, to_jsonb(m) ->> 'functions' as functions from migrations m order by id desc limit 1",
  );
  return found.rows[0] ?? { version: 0, functions: null };
}
