import * as v from "valibot";
import { jsonObject, open, text } from "../../schema/json.ts";
import { hidden, secret } from "../../schema/marks.ts";
import { message, messageArg } from "../message.ts";

export const fetchLogsWithSignedUrl = message({
  name: "fetch_logs_with_signed_url",
  summary: "Packs logs and uploads them.",
  args: [
    messageArg(
      "request",
      open({
        signed_url: secret(text("signed_url")),
        log_type: v.string(),
        filters: v.optional(v.nullable(v.array(v.string()))),
        blobstore_headers: v.optional(v.nullable(hidden(jsonObject()))),
      }),
      "where to, and which",
    ),
  ],
  mode: "task",
  result: open({ sha1: v.string() }),
  cancellable: true,
  upstream: true,
});
