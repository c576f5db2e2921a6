import { rm } from "node:fs/promises";
import { upload } from "../blobs/signed-url.ts";
import { packLogs } from "../logs/collect.ts";
import type { Action } from "./action.ts";

export const fetchLogsWithSignedUrl: Action<"fetch_logs_with_signed_url"> = async (
  { request },
  { services, signal },
) => {
  const archive = await packLogs("fetched", request.log_type, request.filters, services, signal);
  try {
    const tools = { clock: services.clock, signal };
    return { sha1: await upload(archive, request.signed_url, request.blobstore_headers ?? {}, tools) };
  } finally {
    await rm(archive, { force: true });
  }
};
