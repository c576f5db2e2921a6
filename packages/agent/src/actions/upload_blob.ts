import { checkDigest } from "../blobs/digest.ts";
import { isFileName } from "../disks/persistent.ts";
import { BadRequest } from "../errors.ts";
import type { Action } from "./action.ts";

export const uploadBlob: Action<"upload_blob"> = async ({ blob }, { services }) => {
  if (!isFileName(blob.blob_id)) throw BadRequest({ why: "the blob id cannot be the name of a file" });
  // Ruby breaks base64 into lines.
  const content = Buffer.from(blob.payload.replace(/\s+/g, ""), "base64");
  if (!checkDigest(content, blob.checksum)) {
    throw BadRequest({ why: `Payload corrupted. Checksum mismatch. Expected '${blob.checksum}'` });
  }
  await services.blobs.write("sensitive", blob.blob_id, content);
  return blob.blob_id;
};
