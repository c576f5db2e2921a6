import * as v from "valibot";
import { open, text } from "../../schema/json.ts";
import { secret } from "../../schema/marks.ts";
import { message, messageArg } from "../message.ts";

export const uploadBlob = message({
  name: "upload_blob",
  summary: "Stores a blob that came with the message.",
  args: [
    messageArg(
      "blob",
      open({ blob_id: text("blob_id"), checksum: text("checksum"), payload: secret(v.string()) }),
      "payload is base64, with or without line breaks",
    ),
  ],
  mode: "task",
  result: v.string(),
  unlogged: true,
  upstream: true,
});
