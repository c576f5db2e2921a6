import type { BlobId } from "@slipway/engine/blobs/blobs";
import type { CompiledPackage, CompileKey } from "@slipway/engine/releases/model";
import { sql } from "kysely";
import { PackageReplaced } from "./errors.ts";
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

/** Returns the compiled packages that exist for exactly these keys. */
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

/** Returns all that were compiled from these packages, by stemcell and build. */
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

/** Blobs that a package was compiled from. */
export interface CompiledFrom {
  readonly source: BlobId;
  /** Blobs of the compiled packages it was compiled with. */
  readonly dependencies: readonly BlobId[];
}

/**
 * Saves a compiled package. One that exists for the key is kept and returned: another task has compiled it, too. Refused if the
 * package or one it was compiled with was uploaded again meanwhile with `--fix`: those are not to be trusted.
 */
export function saveCompiled(
  db: Db,
  key: CompileKey,
  made: { readonly blobId: BlobId; readonly digest: string },
  from?: CompiledFrom,
): Promise<CompiledPackage> {
  const { packageId, stemcellOs, stemcellVersion, dependencyKey } = key;
  return inTransaction(db, async (tx) => {
    // One after the other, or two would get the same build.
    const row = await tx
      .selectFrom("packages")
      .select(["name", "blob_id"])
      .where("id", "=", packageId)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (from !== undefined && (row?.blob_id !== from.source || !(await areThere(tx, from.dependencies))))
      throw PackageReplaced({ package: row?.name ?? String(packageId) });
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

/**
 * Reports whether compiled packages with these blobs exist. A `--fix` deletes them with all others of its release, and waits for
 * the row of the package that is saved.
 */
async function areThere(tx: Db, blobs: readonly BlobId[]): Promise<boolean> {
  const wanted = [...new Set(blobs)];
  if (wanted.length === 0) return true;
  const rows = await tx
    .selectFrom("compiled_packages")
    .select("blob_id")
    .distinct()
    .where("blob_id", "in", wanted)
    .execute();
  return rows.length === wanted.length;
}

/** A compiled package, with the name of its package. */
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

/**
 * Deletes a compiled package unless a stemcell of its line is there now: deploys with that stemcell may use it. Returns
 * whether it was deleted. Its blob is swept later.
 */
export async function deleteUnusedCompiled(db: Db, id: number): Promise<boolean> {
  const line = (version: string) => sql`(regexp_split_to_array(${sql.ref(version)}, '[._]'))[1]`;
  const { numAffectedRows } = await sql`delete from compiled_packages c where c.id = ${id} and not exists (
    select 1 from stemcells s where s.operating_system = c.stemcell_os
      and ${line("s.version")} = ${line("c.stemcell_version")})`.execute(db);
  return numAffectedRows === 1n;
}
