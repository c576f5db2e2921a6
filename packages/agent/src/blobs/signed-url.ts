import { type RetryTools, retry } from "@slipway/kernel/backoff";
import { basicAuth, HttpTrouble } from "@slipway/kernel/http/client";
import { follow } from "@slipway/kernel/http/follow";
import { checkDigest, hashFile } from "./digest.ts";
import { DownloadFailed } from "./errors.ts";
import { upload as put, type Transfer } from "./transfer.ts";

type Headers = Readonly<Record<string, unknown>>;

const texts = (headers: Headers): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

const RETRIES = { tries: 3, firstDelayMs: 5_000, longestDelayMs: 5_000 };

/** Builds the transfer for a signed URL. The URL is a credential and is in no message. */
export function signedTransfer(what: string, url: string, headers: Headers): Transfer {
  if (!URL.canParse(url)) throw DownloadFailed({ what, why: "the URL is none" });
  return { what, url: new URL(url), headers: () => texts(headers) };
}

/** Small content of a signed URL, compared with its digest. */
export async function download(
  url: string,
  digest: string,
  headers: Headers,
  tools: RetryTools,
): Promise<Uint8Array> {
  return await retry(
    async () => {
      const content = await ask(signedTransfer("a signed URL", url, headers), tools);
      if (!checkDigest(content, digest))
        throw DownloadFailed({ what: "a signed URL", why: "its digest is another" });
      return content;
    },
    () => true,
    RETRIES,
    tools,
  );
}

/** Puts a file to a signed URL, once; resolves to its digests as upstream writes them. */
export async function upload(
  path: string,
  url: string,
  headers: Headers,
  { clock, signal }: Pick<RetryTools, "clock" | "signal">,
): Promise<string> {
  const to = signedTransfer("the upload to a signed URL", url, headers);
  const { username, password } = to.url;
  const own = username === "" ? {} : { authorization: basicAuth(username, password) };
  const all = () => ({ ...own, accept: "*/*", expect: "100-continue", ...to.headers() });
  await put(path, { ...to, headers: all }, { clock }, signal);
  return `${await hashFile(path, "sha1")};sha512:${await hashFile(path, "sha512")}`;
}

async function ask(
  { what, url, headers }: Transfer,
  { clock, signal }: Pick<RetryTools, "clock" | "signal">,
): Promise<Buffer> {
  try {
    const reply = await follow(url, { method: "GET", headers: headers(), signal, doing: what }, { clock });
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
