import { createHash, createHmac } from "node:crypto";

export interface AwsKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Comes with temporary keys. */
  readonly sessionToken?: string | undefined;
}

export interface SigningKey extends AwsKey {
  readonly region: string;
  /** Default: S3. */
  readonly service?: string | undefined;
}

/** Parts of a request that are signed. The host of the URL is one of them. */
export interface Signable {
  readonly method: string;
  readonly url: URL;
  /** Hex of the sha256 of what is sent. */
  readonly payloadSha256: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Further headers that are sent, in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

export const EMPTY_SHA256 = createHash("sha256").digest("hex");

/** The headers of a request, with AWS Signature Version 4, as every S3-compatible server checks it. */
export function signedHeaders(request: Signable, key: SigningKey): Readonly<Record<string, string>> {
  const { region, service = "s3" } = key;
  const time = new Date(request.now).toISOString().replace(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const sent: Record<string, string> = {
    ...request.headers,
    "x-amz-content-sha256": request.payloadSha256,
    "x-amz-date": time,
    ...(key.sessionToken !== undefined && { "x-amz-security-token": key.sessionToken }),
  };
  const signed = Object.entries({ ...sent, host: request.url.host }).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    request.method,
    // S3 signs the path as it is sent.
    request.url.pathname,
    [...request.url.searchParams]
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .sort()
      .join("&"),
    ...signed.map(([name, value]) => `${name}:${value.trim()}`),
    "",
    names,
    request.payloadSha256,
  ].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const signing = [day, region, service, "aws4_request"].reduce<string | Buffer>(
    (secret, part) => createHmac("sha256", secret).update(part).digest(),
    `AWS4${key.secretAccessKey}`,
  );
  const signature = createHmac("sha256", signing).update(text).digest("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...sent, authorization };
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
