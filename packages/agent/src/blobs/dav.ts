import { createHash } from "node:crypto";
import { basicAuth } from "@slipway/kernel/http/client";
import { trimEnd } from "@slipway/kernel/text";
import { check } from "@slipway/protocol/schema/check";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { BlobstoreFailed } from "./errors.ts";
import type { Transfer } from "./transfer.ts";

const davOptions = open({
  endpoint: v.string(),
  user: v.optional(v.nullable(v.string())),
  password: v.optional(v.nullable(v.string())),
  tls: v.optional(
    v.nullable(open({ cert: v.optional(v.nullable(open({ ca: v.optional(v.nullable(v.string())) }))) })),
  ),
});

/** A blob of a WebDAV blobstore, which keeps blobs in 256 directories by the first byte of their id's sha1. */
export function davTransfer(options: unknown, id: string): Transfer {
  const checked = check(davOptions, options ?? {}, "options");
  if (!checked.ok) throw refused(checked.problems.join("; "));
  const { endpoint, user, password, tls } = checked.value;
  if (!URL.canParse(endpoint)) throw refused("the endpoint is no URL");
  const url = new URL(endpoint);
  const prefix = createHash("sha1").update(id).digest("hex").slice(0, 2);
  url.pathname = `${trimEnd(url.pathname, "/")}/${prefix}/${encodeURIComponent(id)}`;
  const ca = tls?.cert?.ca || undefined;
  const authorization = user ? { authorization: basicAuth(user, password ?? "") } : {};
  return {
    what: "a blob in the blobstore dav",
    url,
    headers: () => authorization,
    ...(ca !== undefined && { tls: { ca } }),
  };
}

const refused = (why: string) => BlobstoreFailed({ provider: "dav", doing: "be used", why });
