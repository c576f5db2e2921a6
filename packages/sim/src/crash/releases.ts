import { sweepReleaseBlobs } from "@slipway/director/operations/releases/blobs";
import { listReleases, loadReleases } from "@slipway/director/store/releases";
import type { Db } from "@slipway/director/store/schema";
import { blobsInSim } from "../director/director-in-sim.ts";
import type { View } from "./scenario.ts";

/** The releases of a Director and the blobs it keeps of them, after it has swept, as it does at each start. */
export async function releasesOf(
  db: Db,
  uploadsDir: string,
): Promise<Pick<View, "releases" | "blobs" | "compiled">> {
  const blobs = blobsInSim(uploadsDir);
  await sweepReleaseBlobs(db, blobs);
  const wanted = (await listReleases(db)).flatMap(({ name, versions }) =>
    versions.map(({ version }) => ({ name, version })),
  );
  const releases = await loadReleases(db, wanted);
  return {
    releases: releases.map(({ name, version, jobs, packages }) => ({
      name,
      version,
      blobs: [...jobs.map(({ blobId }) => blobId), ...packages.flatMap(({ source }) => source?.blobId ?? [])],
    })),
    blobs: await blobs.list(),
    compiled: await db
      .selectFrom("compiled_packages")
      .innerJoin("packages", "packages.id", "compiled_packages.package_id")
      .select(["packages.name", "packages.version", "compiled_packages.blob_id as blob"])
      .orderBy("compiled_packages.id")
      .execute(),
  };
}

export const variablesOf = async (db: Db): Promise<readonly string[]> =>
  (await db.selectFrom("variables").select("name").orderBy("name").execute()).map(({ name }) => name);
