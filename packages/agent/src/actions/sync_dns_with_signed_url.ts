import { download } from "../blobs/signed-url.ts";
import type { Action } from "./action.ts";
import { isCurrent, takeOver } from "./sync_dns.ts";

export const syncDnsWithSignedUrl: Action<"sync_dns_with_signed_url"> = async (
  { request },
  { services, signal },
) => {
  if (await isCurrent(services, request.version)) return "synced";
  const content = await download(request.signed_url, request.multi_digest, request.blobstore_headers ?? {}, {
    clock: services.clock,
    random: services.random,
    signal,
  });
  await takeOver(new TextDecoder().decode(content), request.version, services);
  return "synced";
};
