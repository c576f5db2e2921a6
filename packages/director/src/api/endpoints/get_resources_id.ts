import { isBlobId } from "@slipway/engine/blobs/blob-id";
import { param } from "../call.ts";
import { NoSuchResource } from "../refusals.ts";
import { endpoint } from "../route.ts";

/** A blob as it is, such as fetched logs; it is sent as it is read. */
export const getResourcesId = endpoint({}, async (call, { blobs }) => {
  const id = param(call, "id");
  const found = isBlobId(id) ? await blobs.get(id) : undefined;
  if (found === undefined) throw NoSuchResource({ name: id });
  return {
    status: 200,
    headers: { "content-type": "application/octet-stream", "content-length": String(found.size) },
    body: found.content,
  };
});
