import type { BlobId } from "@slipway/engine/blobs/blobs";
import type { CompiledPackage, CompileKey } from "@slipway/engine/releases/model";
import { sql } from "kysely";
import { inTransaction } from "./open.ts";
import type { Db, Tables } from "./schema.ts";

type Row = Pick<
  Tables["compiled_packages"],
  "package_id" | "stemcell_os" | "stemcell_version" | "dependency_key" | "build" | "digest" | "blob_id"
>;

const COLUMNS = [
  "package_id",
  "stemcell_os",
  "stemcell_version",
  "dependency_key",
  "build",
  "digest",
  "blob_id",
] as const;

const toCompiled = (row: Row): CompiledPackage => ({
  packageId: row.package_id,
  stemcellOs: row.stemcell_os,
  stemcellVersion: row.stemcell_version,
  dependencyKey: row.dependency_key,
  build: row.build,
  blobId: row.blob_id,
  digest: row.digest,
});

/** Those that are there for exactly these keys. */
export async function findCompiled(db: Db, keys: readonly CompileKey[]): Promise<CompiledPackage[]> {
  if (keys.length === 0) return [];
  const { rows } = await sql<Row>`
    select c.package_id, c.stemcell_os, c.stemcell_version, c.dependency_key, c.build, c.digest, c.blob_id
    from compiled_packages c
    join unnest(${keys.map((key) => key.packageId)}::bigint[], ${keys.map((key) => key.stemcellOs)}::text[],
      ${keys.map((key) => key.stemcellVersion)}::text[], ${keys.map((key) => key.dependencyKey)}::text[])
      as k(package_id, stemcell_os, stemcell_version, dependency_key)
      using (package_id, stemcell_os, stemcell_version, dependency_key)
    order by c.id`.execute(db);
  return rows.map(toCompiled);
}

/** All that were compiled from these packages, by stemcell and build. */
export async function compiledFrom(db: Db, packageIds: readonly number[]): Promise<CompiledPackage[]> {
  if (packageIds.length === 0) return [];
  const rows = await db
    .selectFrom("compiled_packages")
    .select(COLUMNS)
    .where("package_id", "in", [...new Set(packageIds)])
    .orderBy("package_id")
    .orderBy("stemcell_os")
    .orderBy("stemcell_version")
    .orderBy("build")
    .execute();
  return rows.map(toCompiled);
}

/** What is there for the key already is kept and returned: who else compiled it is done, too. */
export function saveCompiled(
  db: Db,
  key: CompileKey,
  made: { readonly blobId: BlobId; readonly digest: string },
): Promise<CompiledPackage> {
  const { packageId, stemcellOs, stemcellVersion, dependencyKey } = key;
  return inTransaction(db, async (tx) => {
    // One after the other, or two would get the same build.
    await tx.selectFrom("packages").select("id").where("id", "=", packageId).forNoKeyUpdate().execute();
    const [there] = await findCompiled(tx, [key]);
    if (there !== undefined) return there;
    const { next } = await tx
      .selectFrom("compiled_packages")
      .select(sql<number>`coalesce(max(build), 0) + 1`.as("next"))
      .where("package_id", "=", packageId)
      .where("stemcell_os", "=", stemcellOs)
      .where("stemcell_version", "=", stemcellVersion)
      .executeTakeFirstOrThrow();
    await tx
      .insertInto("compiled_packages")
      .values({
        package_id: packageId,
        stemcell_os: stemcellOs,
        stemcell_version: stemcellVersion,
        dependency_key: dependencyKey,
        build: next,
        digest: made.digest,
        blob_id: made.blobId,
      })
      .execute();
    return { ...key, build: next, ...made };
  });
}

/** With the name of its package. */
export interface ListedCompiled {
  readonly id: number;
  readonly name: string;
  readonly stemcellOs: string;
  readonly stemcellVersion: string;
}

export async function listCompiled(db: Db): Promise<ListedCompiled[]> {
  const rows = await db
    .selectFrom("compiled_packages as c")
    .innerJoin("packages as p", "p.id", "c.package_id")
    .select(["c.id", "p.name", "c.stemcell_os", "c.stemcell_version"])
    .orderBy("c.id")
    .execute();
  return rows.map(({ id, name, stemcell_os, stemcell_version }) => ({
    ...{ id, name, stemcellOs: stemcell_os, stemcellVersion: stemcell_version },
  }));
}

/** Its blob is for whoever sweeps. */
export async function deleteCompiled(db: Db, id: number): Promise<void> {
  await db.deleteFrom("compiled_packages").where("id", "=", id).execute();
}
