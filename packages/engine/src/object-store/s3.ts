import { createHmac } from "node:crypto";
import { type AwsKey, EMPTY_SHA256, signedHeaders } from "@slipway/kernel/sigv4";
import { json, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import {
  type ObjectAccess,
  type ObjectStoreTools,
  ObjectTrouble,
  type Payload,
  xmlCode,
} from "./object-store.ts";
import { assumedRole, environmentKey } from "./s3-credentials.ts";

const perhaps = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema));

/** The options of bosh-s3cli. Those that tune its transfers are passed over. */
export const s3Options = open({
  bucket_name: v.string(),
  folder_name: perhaps(v.string()),
  credentials_source: perhaps(v.picklist(["", "static", "env_or_profile", "none"])),
  access_key_id: perhaps(v.string()),
  secret_access_key: perhaps(v.string()),
  session_token: perhaps(v.string()),
  assume_role_arn: perhaps(v.string()),
  host: perhaps(v.string()),
  port: perhaps(json()),
  region: perhaps(v.string()),
  use_ssl: perhaps(v.boolean()),
  ssl_verify_peer: perhaps(v.boolean()),
  host_style: perhaps(v.boolean()),
  signature_version: perhaps(json()),
  server_side_encryption: perhaps(v.string()),
  sse_kms_key_id: perhaps(v.string()),
});
type S3Options = v.InferOutput<typeof s3Options>;

const DEFAULT_REGION = "us-east-1";
const ALIBABA_HOST = /^oss-([a-z0-9-]+?)(?:-internal)?\.aliyuncs\.com$/;

export function s3Access(options: S3Options, tools: ObjectStoreTools): ObjectAccess {
  const { bucket_name: bucket } = options;
  if (bucket === "") throw refused("bucket_name must be set");
  const region = options.region || regionOf(options.host || "") || DEFAULT_REGION;
  const key = keySource(options, region, tools);
  const version = versionOf(options);
  const address = (id: string) => addressOf(options, region, id);
  const signed = async (
    method: string,
    id: string,
    given: AwsKey,
    payloadSha256: string,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const url = address(id);
    const request = { method, url, payloadSha256, now: tools.clock.now(), headers };
    return {
      url,
      headers:
        version === 2
          ? signedByVersion2(request, given, bucket, options.host_style === true)
          : signedHeaders(request, { ...given, region }),
    };
  };
  return {
    where: `bucket '${bucket}' at ${address("").host}`,
    ...(options.ssl_verify_peer === false && { tls: { rejectUnauthorized: false } }),
    get: (id) => [
      async () => {
        const given = await key();
        return given === undefined
          ? { url: address(id), headers: {} }
          : await signed("GET", id, given, EMPTY_SHA256);
      },
    ],
    put: async (id, { sha256 }: Payload) => {
      const given = await key();
      if (given === undefined)
        throw refused(
          "there are no credentials to write with; set access_key_id and secret_access_key, or credentials_source: env_or_profile",
        );
      const encryption = {
        ...(options.server_side_encryption && {
          "x-amz-server-side-encryption": options.server_side_encryption,
        }),
        ...(options.sse_kms_key_id && {
          "x-amz-server-side-encryption-aws-kms-key-id": options.sse_kms_key_id,
        }),
      };
      return await signed("PUT", id, given, sha256, encryption);
    },
    codeOf: (reply, body) => {
      const code = xmlCode(reply, body);
      const home = reply.header("x-amz-bucket-region");
      return home !== undefined && home !== region && reply.status !== 404
        ? `${code ?? ""} (the bucket is in the region ${home}; set region)`.trim()
        : code;
    },
  };
}

const refused = (why: string) => new ObjectTrouble("refused", why);

/** Resolves to the key of the next request; undefined: it goes unsigned. */
function keySource(
  options: S3Options,
  region: string,
  tools: ObjectStoreTools,
): () => Promise<AwsKey | undefined> {
  const { access_key_id: id, secret_access_key: secret, session_token, credentials_source } = options;
  const both = Boolean(id) && Boolean(secret);
  const source = credentials_source || (id || secret ? "static" : "none");
  if (source === "static" && !both) throw refused("access_key_id and secret_access_key must be provided");
  if (source !== "static" && (id || secret))
    throw refused(`access_key_id and secret_access_key cannot be used with credentials_source ${source}`);
  if (source === "none") return () => Promise.resolve(undefined);
  const own = {
    accessKeyId: id ?? "",
    secretAccessKey: secret ?? "",
    sessionToken: session_token || undefined,
  };
  const first = source === "static" ? () => Promise.resolve(own) : () => environmentKey(tools);
  const role = options.assume_role_arn;
  const find = async () => {
    const given = await first();
    return given === undefined || !role ? given : await assumedRole(role, given, region, tools);
  };
  // Keys of a command live longer than the command.
  let found: Promise<AwsKey | undefined> | undefined;
  return () => {
    found ??= find();
    return found;
  };
}

function versionOf({ signature_version: given }: S3Options): 2 | 4 {
  const text = given === undefined || given === null ? "4" : String(given).replace(/^v/, "");
  if (text === "2") return 2;
  if (text === "4" || text === "") return 4;
  throw refused("signature_version is 2 or 4");
}

function regionOf(host: string): string | undefined {
  const region = awsRegionOf(host.split(".")) ?? ALIBABA_HOST.exec(host)?.[1];
  return region === "external-1" ? undefined : region;
}

/** Region in `s3.REGION.amazonaws.com` and `s3-REGION.amazonaws.com`. */
function awsRegionOf(labels: readonly string[]): string | undefined {
  const end = labels.lastIndexOf("amazonaws");
  const [before, last] = [labels[end - 2], labels[end - 1]];
  if (last === undefined || labels[end + 1] !== "com") return undefined;
  return last.startsWith("s3-") ? last.slice("s3-".length) : before === "s3" ? last : undefined;
}

function addressOf(options: S3Options, region: string, id: string): URL {
  const china = region.startsWith("cn-") ? ".cn" : "";
  const host = options.host || `s3.${region}.amazonaws.com${china}`;
  const hostStyle = options.host_style ?? ALIBABA_HOST.test(host);
  const given = options.port;
  const port = (typeof given === "number" || typeof given === "string") && Number(given) ? `:${given}` : "";
  const [, scheme = options.use_ssl === false ? "http" : "https", bare = host] =
    /^(https?):\/\/(.*)$/.exec(host) ?? [];
  const key = [options.folder_name, id].filter(Boolean).join("/");
  const path = key.split("/").map(encodeURIComponent).join("/");
  const text = hostStyle
    ? `${scheme}://${options.bucket_name}.${bare}${port}/${path}`
    : `${scheme}://${bare}${port}/${encodeURIComponent(options.bucket_name)}/${path}`;
  if (!URL.canParse(text)) throw refused("host, port and bucket_name make no address");
  return new URL(text);
}

/** AWS Signature Version 2, which old servers want. */
function signedByVersion2(
  { method, url, now, headers = {} }: Parameters<typeof signedHeaders>[0],
  key: AwsKey,
  bucket: string,
  hostStyle: boolean,
): Readonly<Record<string, string>> {
  const date = new Date(now).toUTCString();
  const sent: Record<string, string> = {
    ...headers,
    ...(key.sessionToken !== undefined && { "x-amz-security-token": key.sessionToken }),
  };
  const own = Object.keys(sent)
    .sort()
    .map((name) => `${name}:${sent[name]}\n`);
  const resource = `${hostStyle ? `/${bucket}` : ""}${url.pathname}`;
  const text = `${method}\n\n\n${date}\n${own.join("")}${resource}`;
  const signature = createHmac("sha1", key.secretAccessKey).update(text).digest("base64");
  return { ...sent, date, authorization: `AWS ${key.accessKeyId}:${signature}` };
}
