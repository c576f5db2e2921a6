import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type RetryTools, retry } from "@slipway/kernel/backoff";
import { toError } from "@slipway/kernel/errors";
import { DownloadFailed } from "../actions/errors.ts";
import { checkDigest } from "./digest.ts";

type Headers = Readonly<Record<string, unknown>>;

const texts = (headers: Headers): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

const RETRIES = { tries: 3, firstDelayMs: 5_000, longestDelayMs: 5_000 };

/** Content of a signed URL, compared with its digest. The URL is a credential and stands in no message. */
export async function download(
  url: string,
  digest: string,
  headers: Headers,
  tools: RetryTools,
): Promise<Uint8Array> {
  return await retry(
    async () => {
      const reply = await fetch(url, { headers: texts(headers), signal: tools.signal ?? null }).catch(
        (error: unknown) => {
          throw DownloadFailed({ what: "a signed URL", why: toError(error).message });
        },
      );
      if (!reply.ok) throw DownloadFailed({ what: "a signed URL", why: `HTTP ${reply.status}` });
      const content = new Uint8Array(await reply.arrayBuffer());
      if (!checkDigest(content, digest))
        throw DownloadFailed({ what: "a signed URL", why: "its digest is another" });
      return content;
    },
    () => true,
    RETRIES,
    tools,
  );
}

/** Puts a file to a signed URL; resolves to its digests as upstream writes them. */
export async function upload(
  path: string,
  url: string,
  headers: Headers,
  signal: AbortSignal,
): Promise<string> {
  const body = await readFile(path);
  const reply = await fetch(url, {
    method: "PUT",
    body,
    headers: { ...texts(headers), Accept: "*/*" },
    signal,
  }).catch((error: unknown) => {
    throw DownloadFailed({ what: "the upload to a signed URL", why: toError(error).message });
  });
  if (!reply.ok) throw DownloadFailed({ what: "the upload to a signed URL", why: `HTTP ${reply.status}` });
  const hex = (algorithm: string) => createHash(algorithm).update(body).digest("hex");
  return `${hex("sha1")};sha512:${hex("sha512")}`;
}
