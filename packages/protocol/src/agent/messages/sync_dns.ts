import * as v from "valibot";
import { message, messageArg } from "../message.ts";

export const syncDns = message({
  name: "sync_dns",
  summary: "Takes over DNS records from a blob.",
  args: [
    messageArg("blob_id", v.string(), "the blob"),
    messageArg("digest", v.string(), "its digest"),
    messageArg("version", v.number(), "of the records"),
  ],
  mode: "answer",
  result: v.literal("synced"),
  upstream: true,
});
