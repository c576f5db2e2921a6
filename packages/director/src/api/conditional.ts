import { createHash } from "node:crypto";
import type { Reply } from "./reply.ts";

/**
 * A document that the asker has already is not sent again. Who looks at the same one every second, `slipway watch` or a
 * script with curl, names what it has with If-None-Match.
 */
export function conditional(reply: Reply, method: string, has: string | undefined): Reply {
  const { status, headers, body } = reply;
  if (method !== "GET" || status !== 200 || typeof body !== "string") return reply;
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  if (has !== undefined && tagsOf(has).includes(etag)) return { status: 304, headers: { etag }, body: "" };
  return { ...reply, headers: { ...headers, etag } };
}

/** Splits a list of entity tags. A proxy may have made them weak. */
const tagsOf = (header: string): readonly string[] =>
  header.split(",").map((one) => one.trim().replace(/^W\//, ""));
