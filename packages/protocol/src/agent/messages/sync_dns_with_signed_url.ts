import * as v from "valibot";
import { jsonObject, open, text } from "../../schema/json.ts";
import { hidden, secret } from "../../schema/marks.ts";
import { message, messageArg } from "../message.ts";

export const syncDnsWithSignedUrl = message({
  name: "sync_dns_with_signed_url",
  summary: "Takes over DNS records from a URL.",
  args: [
    messageArg(
      "request",
      open({
        signed_url: secret(text("signed_url")),
        multi_digest: v.string(),
        version: v.number(),
        blobstore_headers: v.optional(v.nullable(hidden(jsonObject()))),
      }),
      "where from",
    ),
  ],
  mode: "answer",
  result: v.literal("synced"),
  upstream: true,
});
