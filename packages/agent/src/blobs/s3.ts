import type { Clock } from "@slipway/kernel/clock";
import { EMPTY_SHA256, signedHeaders } from "@slipway/kernel/sigv4";
import { check } from "@slipway/protocol/schema/check";
import { json, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { hashFile } from "./digest.ts";
import { BlobstoreFailed } from "./errors.ts";
import type { Transfer } from "./transfer.ts";

/** The options of upstream's program for S3, as far as they are asked for here. */
const s3Options = open({
  bucket_name: v.string(),
  folder_name: v.optional(v.nullable(v.string())),
  access_key_id: v.optional(v.nullable(v.string())),
  secret_access_key: v.optional(v.nullable(v.string())),
  credentials_source: v.optional(v.nullable(v.string())),
  host: v.optional(v.nullable(v.string())),
  port: v.optional(v.nullable(json())),
  region: v.optional(v.nullable(v.string())),
  use_ssl: v.optional(v.nullable(v.boolean())),
  host_style: v.optional(v.nullable(v.boolean())),
});

const DEFAULT_REGION = "us-east-1";

/** Requests of one blob in S3, for VMs without upstream's program. */
export function s3Transfers(options: unknown, id: string, clock: Clock) {
  const checked = check(s3Options, options ?? {}, "options");
  if (!checked.ok) throw refused(checked.problems.join("; "));
  const given = checked.value;
  const source = given.credentials_source || (given.access_key_id ? "static" : "none");
  if (source !== "static" && source !== "none")
    throw refused(`credentials from ${JSON.stringify(source)} need the program bosh-blobstore-s3`);
  const region = given.region || DEFAULT_REGION;
  const url = addressOf(given, region, id);
  const sign = (method: string, payloadSha256: string, headers: Readonly<Record<string, string>> = {}) =>
    source === "none"
      ? headers
      : signedHeaders(
          { method, url, payloadSha256, now: clock.now(), headers },
          {
            accessKeyId: given.access_key_id ?? "",
            secretAccessKey: given.secret_access_key ?? "",
            region,
          },
        );
  const what = "a blob in the blobstore s3";
  return {
    get: (): Transfer => ({ what, url, headers: () => sign("GET", EMPTY_SHA256) }),
    put: async (path: string): Promise<Transfer> => {
      const sha256 = await hashFile(path, "sha256");
      return { what, url, headers: () => sign("PUT", sha256) };
    },
  };
}

function addressOf(given: v.InferOutput<typeof s3Options>, region: string, id: string): URL {
  const host = given.host || (region === DEFAULT_REGION ? "s3.amazonaws.com" : `s3.${region}.amazonaws.com`);
  const port = typeof given.port === "number" || typeof given.port === "string" ? `:${given.port}` : "";
  const key = [given.folder_name, id].filter(Boolean).join("/");
  const path = key.split("/").map(encodeURIComponent).join("/");
  const scheme = given.use_ssl === false ? "http" : "https";
  const text = given.host_style
    ? `${scheme}://${given.bucket_name}.${host}${port}/${path}`
    : `${scheme}://${host}${port}/${given.bucket_name}/${path}`;
  if (!URL.canParse(text)) throw refused("host, port and bucket_name make no address");
  return new URL(text);
}

const refused = (why: string) => BlobstoreFailed({ provider: "s3", doing: "be used", why });
