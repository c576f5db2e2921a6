import { rm } from "node:fs/promises";
import { packLogs } from "../logs/collect.ts";
import type { Action } from "./action.ts";

export const fetchLogs: Action<"fetch_logs"> = async ({ types, filters }, { services, signal }) => {
  const archive = await packLogs("fetched", types, filters, services, signal);
  try {
    const { blobId, digest } = await services.blobs.store(archive, signal);
    return { blobstore_id: blobId, sha1: digest };
  } finally {
    await rm(archive, { force: true });
  }
};
