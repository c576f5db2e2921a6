import type { BlobId, Blobs } from "@slipway/engine/blobs/blobs";
import type { Documents } from "../documents/documents.ts";
import { type ListedCompiled, listCompiled } from "../store/compiled-packages.ts";
import { listConfigs } from "../store/configs.ts";
import { listOrphanDisks, type OrphanDisk } from "../store/disks.ts";
import { listOrphanedVms, type OrphanedVm } from "../store/orphaned-vms.ts";
import { listReleases } from "../store/releases.ts";
import type { Db } from "../store/schema.ts";
import { listStemcells, type UploadedStemcell } from "../store/stemcells.ts";
import { exportedReleases } from "./exported.ts";
import { namedIn, type UnusedRelease, unusedCompiled, unusedReleases, unusedStemcells } from "./unused.ts";

export interface CleanUp {
  /** True to also delete the newest ones, and orphaned disks. */
  readonly all: boolean;
  readonly keepDisks: boolean;
}

interface Sources {
  readonly db: Db;
  readonly blobs: Blobs;
  readonly documents: Documents;
}

export async function findReleases(
  { db, documents }: Sources,
  all: boolean,
): Promise<readonly UnusedRelease[]> {
  const configs = await listConfigs(db, { type: "runtime", limit: 1 });
  const read = await Promise.all(
    configs.map(({ name, content: text }) =>
      documents.ask("value", { text, what: `runtime config '${name}'` }),
    ),
  );
  return unusedReleases(await listReleases(db), namedIn(read), all);
}

export const findStemcells = async ({ db }: Sources, all: boolean): Promise<readonly UploadedStemcell[]> =>
  unusedStemcells(await listStemcells(db), all);

/** `going`: stemcells that do not count any more. */
export async function findCompiled(
  { db }: Sources,
  all: boolean,
  going: readonly UploadedStemcell[],
): Promise<readonly ListedCompiled[]> {
  if (!all) return [];
  const gone = new Set(going.map(({ id }) => id));
  const staying = (await listStemcells(db)).filter(({ id }) => !gone.has(id));
  return unusedCompiled(await listCompiled(db), staying);
}

export const findDisks = async (
  { db }: Sources,
  { all, keepDisks }: CleanUp,
): Promise<readonly OrphanDisk[]> => (all && !keepDisks ? await listOrphanDisks(db) : []);

/** Finds exported releases, except for those of tasks that are not over. */
export async function findExported({ db, blobs }: Pick<Sources, "db" | "blobs">): Promise<readonly BlobId[]> {
  const exported = await exportedReleases(blobs);
  if (exported.length === 0) return [];
  const rows = await db
    .selectFrom("tasks")
    .select("id")
    .where("state", "in", ["queued", "processing", "cancelling"])
    .execute();
  const running = new Set(rows.map(({ id }) => id));
  return exported.filter(({ taskId }) => !running.has(taskId)).map(({ id }) => id);
}

export interface Unused {
  readonly releases: readonly UnusedRelease[];
  readonly stemcells: readonly UploadedStemcell[];
  readonly compiled: readonly ListedCompiled[];
  readonly disks: readonly OrphanDisk[];
  readonly vms: readonly OrphanedVm[];
  readonly exported: readonly BlobId[];
}

/** Finds all that a clean-up would delete. */
export async function findUnused(sources: Sources, wanted: CleanUp): Promise<Unused> {
  const stemcells = await findStemcells(sources, wanted.all);
  return {
    releases: await findReleases(sources, wanted.all),
    stemcells,
    compiled: await findCompiled(sources, wanted.all, stemcells),
    disks: await findDisks(sources, wanted),
    vms: await listOrphanedVms(sources.db),
    exported: await findExported(sources),
  };
}
