import { BadWrite } from "@slipway/engine/journal/errors";
import { canonical } from "@slipway/engine/manifest/canonical";
import { type RawBuilder, sql } from "kysely";
import { claimOf } from "./claims.ts";
import { NameTaken, StemcellBeingDeleted, StemcellGone } from "./errors.ts";
import { refusal } from "./failures.ts";
import { inTransaction } from "./open.ts";
import { type ChosenRelease, useReleases } from "./releases.ts";
import type { Db } from "./schema.ts";
import { Sealed } from "./sealed.ts";

export interface DeploymentRecord {
  readonly id: number;
  readonly name: string;
  /** Manifest as posted, of the last deploy that succeeded. */
  readonly manifestText: string | null;
  /** Teams that own the deployment. */
  readonly teams: readonly string[];
}

export interface DeploymentSummary extends Omit<DeploymentRecord, "manifestText"> {
  readonly stemcells: readonly { readonly name: string; readonly version: string }[];
  readonly releases: readonly { readonly name: string; readonly version: string }[];
  /** Configs of the last deploy that succeeded. */
  readonly configs: readonly { readonly id: number; readonly type: string; readonly name: string }[];
}

export type DeploymentWithManifest = DeploymentSummary & Pick<DeploymentRecord, "manifestText">;

const FOREIGN_KEY_VIOLATION = "23503";

/** Returns the deployment of that name, or makes one for these teams. */
export async function ensureDeployment(
  db: Db,
  name: string,
  teams: readonly string[] = [],
): Promise<DeploymentRecord> {
  const form = canonical(name);
  await db
    .insertInto("deployments")
    .values({ name, canonical: form, manifest_sealed: null, teams: [...teams].sort() })
    .onConflict((on) => on.doNothing())
    .execute();
  const found = await findDeployment(db, name);
  if (found !== undefined) return found;
  const other = await db
    .selectFrom("deployments")
    .select("name")
    .where("canonical", "=", form)
    .executeTakeFirst();
  throw NameTaken({ name, canonical: form, holder: other?.name ?? "?" });
}

export async function findDeployment(db: Db, name: string): Promise<DeploymentRecord | undefined> {
  const row = await db
    .selectFrom("deployments")
    .select(["id", "name", "manifest_sealed", "teams"])
    .where("name", "=", name)
    .executeTakeFirst();
  return row && { id: row.id, name: row.name, manifestText: row.manifest_sealed, teams: row.teams };
}

/** Returns the teams of a deployment; undefined if it does not exist. */
export async function teamsOfDeployment(db: Db, name: string): Promise<readonly string[] | undefined> {
  const row = await db.selectFrom("deployments").select("teams").where("name", "=", name).executeTakeFirst();
  return row?.teams;
}

/** The names of a team's deployments. */
export async function deploymentsOf(db: Db, team: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("deployments")
    .select("name")
    .where(sql<boolean>`${team} = any(teams)`)
    .execute();
  return rows.map(({ name }) => name);
}

/** Lists deployments by name, with what they use. `only` limits it to these names. */
export function summarizeDeployments(db: Db, only?: readonly string[]): Promise<DeploymentSummary[]> {
  return summaries(db, only, sql``);
}

/** The same with manifests, each of which has to be decrypted. */
export async function listDeployments(db: Db, only?: readonly string[]): Promise<DeploymentWithManifest[]> {
  const rows = await summaries<{ manifest_sealed: string | null }>(db, only, sql`, d.manifest_sealed`);
  return rows.map(({ manifest_sealed, ...row }) => ({ ...row, manifestText: manifest_sealed }));
}

/** Reads summaries in one round trip, and one pass over each table: a subquery for each deployment costs ten times as much. */
async function summaries<More>(
  db: Db,
  only: readonly string[] | undefined,
  more: RawBuilder<unknown>,
): Promise<(DeploymentSummary & More)[]> {
  const { rows } = await sql<DeploymentSummary & More>`
    with chosen as materialized (
      select id from deployments where ${only === undefined ? sql`true` : sql`name = any(${[...only]}::text[])`})
    select d.id, d.name, d.teams, coalesce(s.used, '[]') as stemcells, coalesce(r.used, '[]') as releases,
      coalesce(c.used, '[]') as configs ${more}
    from chosen join deployments d using (id)
    left join (
      select id, json_agg(json_build_object('name', name, 'version', version) order by name, version) as used
      from (select distinct chosen.id, s.name, s.version
        from chosen join deployment_stemcells ds on ds.deployment_id = chosen.id
        join stemcells s on s.id = ds.stemcell_id) x group by id) s using (id)
    left join (
      select chosen.id,
        json_agg(json_build_object('name', r.name, 'version', v.version) order by r.name, v.version) as used
      from chosen join deployment_release_versions dv on dv.deployment_id = chosen.id
      join release_versions v on v.id = dv.release_version_id
      join releases r on r.id = v.release_id group by chosen.id) r using (id)
    left join (
      select chosen.id,
        json_agg(json_build_object('id', c.id, 'type', c.type, 'name', c.name) order by c.id) as used
      from chosen join deployment_configs dc on dc.deployment_id = chosen.id
      join configs c on c.id = dc.config_id group by chosen.id) c using (id)
    order by d.name`.execute(db);
  return rows;
}

/**
 * Marks stemcells as in use while a deploy runs, beside those of the last success. Refused for a stemcell that a task deletes, or
 * has deleted since the deploy was planned.
 */
export function useStemcells(db: Db, id: number, stemcells: readonly number[]): Promise<void> {
  const ids = [...new Set(stemcells)];
  if (ids.length === 0) return Promise.resolve();
  return inTransaction(db, async (tx) => {
    // Locked until the end of the transaction: a task that claims one of them sees that it is used, or was first.
    const rows = await tx
      .selectFrom("stemcells")
      .select(["id", "name", "version", "deleting_task", "deleting_since"])
      .where("id", "in", ids)
      .orderBy("id")
      .forShare()
      .execute();
    const claimed = rows.find((row) => claimOf(row) !== undefined);
    if (claimed !== undefined)
      throw StemcellBeingDeleted({
        ...{ name: claimed.name, version: claimed.version, task: claimed.deleting_task ?? 0 },
      });
    if (rows.length < ids.length) throw StemcellGone({});
    await tx
      .insertInto("deployment_stemcells")
      .values(ids.map((stemcell_id) => ({ deployment_id: id, stemcell_id })))
      .onConflict((on) => on.doNothing())
      .execute();
  });
}

/** A deploy succeeded: its manifest, configs, stemcells and releases are the deployment's from now on, all at once. */
export function saveSuccess(
  db: Db,
  id: number,
  success: {
    readonly manifestText: string;
    readonly configs: readonly number[];
    readonly stemcells: readonly number[];
    readonly releases?: readonly ChosenRelease[] | undefined;
  },
): Promise<void> {
  return inTransaction(db, async (tx) => {
    await tx
      .updateTable("deployments")
      .set({ manifest_sealed: new Sealed(success.manifestText) })
      .where("id", "=", id)
      .execute();
    await tx.deleteFrom("deployment_configs").where("deployment_id", "=", id).execute();
    await tx.deleteFrom("deployment_stemcells").where("deployment_id", "=", id).execute();
    await tx.deleteFrom("deployment_release_versions").where("deployment_id", "=", id).execute();
    if (success.configs.length > 0)
      await tx
        .insertInto("deployment_configs")
        .values([...new Set(success.configs)].map((config_id) => ({ deployment_id: id, config_id })))
        .execute();
    await useStemcells(tx, id, success.stemcells);
    await useReleases(tx, id, success.releases ?? []);
  });
}

/** The deployment uses no stemcell any more: they may be deleted. */
export async function detachStemcells(db: Db, id: number): Promise<void> {
  await db.deleteFrom("deployment_stemcells").where("deployment_id", "=", id).execute();
}

/** The deployment uses no release any more: they may be deleted. */
export async function detachReleases(db: Db, id: number): Promise<void> {
  await db.deleteFrom("deployment_release_versions").where("deployment_id", "=", id).execute();
}

/** Deletes a deployment; refused while it has an instance. */
export async function deleteDeployment(db: Db, id: number): Promise<void> {
  try {
    await db.deleteFrom("deployments").where("id", "=", id).execute();
  } catch (error) {
    if (refusal(error)?.state !== FOREIGN_KEY_VIOLATION) throw error;
    throw BadWrite({ what: "a deployment that still has instances cannot be deleted" }, { cause: error });
  }
}
