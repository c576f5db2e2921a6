import { open, rename, rm } from "node:fs/promises";
import { verifyDigest } from "@slipway/engine/stemcells/digest";
import type { DirectorApi } from "../api/director-api.ts";
import { pathSegment } from "../api/request-path.ts";

/** A blob of the Director as a file: all of it, and what its digest says, or nothing. */
export async function saveResource(
  api: DirectorApi,
  { blobstore_id: id, sha1 }: { readonly blobstore_id: string; readonly sha1?: string | null | undefined },
  path: string,
): Promise<void> {
  const partial = `${path}.partial`;
  try {
    const file = await open(partial, "wx", 0o644);
    try {
      await api.download({ method: "GET", path: `/resources/${pathSegment(id)}` }, async (content) => {
        for await (const part of content) await file.appendFile(part);
      });
    } finally {
      await file.close();
    }
    if (sha1) await verifyDigest(partial, sha1, "release");
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
