import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { type RetryTools, retry } from "@slipway/kernel/backoff";
import { HttpTrouble } from "@slipway/kernel/http/client";
import { follow } from "@slipway/kernel/http/follow";
import { checkDigest } from "./digest.ts";
import { DownloadFailed } from "./errors.ts";

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
      const content = await ask("a signed URL", url, { method: "GET", headers: texts(headers) }, tools);
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
  tools: Pick<RetryTools, "clock" | "signal">,
): Promise<string> {
  const body = await readFile(path);
  const asked = { method: "PUT", body, headers: { ...texts(headers), accept: "*/*" } };
  await ask("the upload to a signed URL", url, asked, tools);
  const hex = (algorithm: string) => createHash(algorithm).update(body).digest("hex");
  return `${hex("sha1")};sha512:${hex("sha512")}`;
}

async function ask(
  what: string,
  url: string,
  asked: Parameters<typeof follow>[1],
  { clock, signal }: Pick<RetryTools, "clock" | "signal">,
): Promise<Buffer> {
  try {
    const reply = await follow(new URL(url), { ...asked, signal, doing: what }, { clock });
    const content = await reply.bytes();
    if (reply.status >= 200 && reply.status < 300) return content;
    throw DownloadFailed({ what, why: `HTTP ${reply.status}` });
  } catch (error) {
    signal?.throwIfAborted();
    if (DownloadFailed.is(error)) throw error;
    const why = error instanceof HttpTrouble ? error.why : "it cannot be asked";
    throw DownloadFailed({ what, why });
  }
}
