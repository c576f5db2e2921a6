import { open, rm } from "node:fs/promises";
import { verifyDigest } from "@slipway/engine/stemcells/digest";
import type { DirectorApi } from "../api/director-api.ts";
import { pathSegment } from "../api/request-path.ts";

/** Saves a blob of the Director to a file. */
export const saveBlob = (
  api: DirectorApi,
  { id, digest }: { readonly id: string; readonly digest?: string | undefined },
  path: string,
): Promise<void> =>
  saveArchive(path, digest, (take) =>
    api.download({ method: "GET", path: `/resources/${pathSegment(id)}` }, take),
  );

type Take = (content: AsyncIterable<Uint8Array>) => Promise<void>;

/** All of it or nothing, and never over another file. With a digest, it is what it should be. */
export async function saveArchive(
  path: string,
  digest: string | undefined,
  download: (take: Take) => Promise<unknown>,
): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await download(async (content) => {
      for await (const part of content) await file.appendFile(part);
    });
    await file.close();
    if (digest !== undefined) await verifyDigest(path, digest, "archive of logs");
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(path, { force: true });
    throw error;
  }
}

/** `20251115-190000`, as upstream's CLI names what it downloads. */
export function stamp(now: number): string {
  const time = new Date(now).toISOString().replaceAll(/[-:T]/g, "");
  return `${time.slice(0, 8)}-${time.slice(8, 14)}`;
}
