import { createReadStream } from "node:fs";
import { open, rm, stat } from "node:fs/promises";
import { retry } from "@slipway/kernel/backoff";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { ifThere } from "@slipway/kernel/files";
import {
  type HttpClientOptions,
  type HttpReply,
  HttpTrouble,
  requestOnce,
} from "@slipway/kernel/http/client";
import { follow } from "@slipway/kernel/http/follow";
import type { Random } from "@slipway/kernel/random";
import { formatDigest, hashFile, strongestDigest } from "./digest.ts";
import { DownloadFailed, UploadFailed } from "./errors.ts";

export interface TransferTools {
  readonly clock: Clock;
  readonly random: Random;
}

/** One request of a blob. `headers` are made for each try: a signature has a time in it. */
export interface Transfer {
  /** For messages. The URL may be a credential and stands in none. */
  readonly what: string;
  readonly url: URL;
  readonly headers: () => Readonly<Record<string, string>>;
  readonly tls?: HttpClientOptions["tls"];
}

/** Upstream's. */
const RETRIES = { tries: 3, firstDelayMs: 5_000, longestDelayMs: 5_000 };
const LARGEST_REFUSAL = 64 << 10;
const MOST_SAID = 500;
const CONNECT_MS = 30_000;
const IDLE_MS = 120_000;

/**
 * Fetches into a file and compares the digest. What a broken connection has left is gone on with where the server can do
 * that; what has another digest is thrown away.
 */
export async function download(
  from: Transfer,
  digest: string,
  to: string,
  tools: TransferTools,
  signal: AbortSignal,
): Promise<void> {
  const wanted = strongestDigest(digest);
  const progress: Progress = {};
  const attempt = async () => {
    await resume(from, to, progress, tools, signal);
    const hex = await hashFile(to, wanted.algorithm);
    if (hex === wanted.hex) return;
    delete progress.tag;
    const [got, expected] = [formatDigest({ ...wanted, hex }), formatDigest(wanted)];
    const why = `Expected stream to have digest '${expected}' but was '${got}'`;
    throw DownloadFailed({ what: from.what, why });
  };
  try {
    await retry(attempt, (error) => DownloadFailed.is(error), RETRIES, { ...tools, signal });
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}

interface Progress {
  /** Tag by which the server knows the partly fetched content. Without it the next try starts over. */
  tag?: string;
}

async function resume(
  from: Transfer,
  to: string,
  progress: Progress,
  { clock }: TransferTools,
  signal: AbortSignal,
): Promise<void> {
  const have = progress.tag === undefined ? 0 : ((await ifThere(stat(to)))?.size ?? 0);
  const part = have > 0 && progress.tag ? { range: `bytes=${have}-`, "if-range": progress.tag } : {};
  delete progress.tag;
  await told(DownloadFailed, from.what, signal, async () => {
    const reply = await follow(
      from.url,
      {
        ...{ method: "GET", doing: from.what, signal, connectMs: CONNECT_MS, idleMs: IDLE_MS },
        headers: { ...from.headers(), ...part },
      },
      { clock, tls: from.tls },
    );
    const goesOn = reply.status === 206 && (reply.header("content-range") ?? "").startsWith(`bytes ${have}-`);
    if (!goesOn && reply.status !== 200) {
      reply.discard();
      throw DownloadFailed({ what: from.what, why: `Error executing GET, response was ${reply.status}` });
    }
    const tag = reply.header("etag");
    // A weak tag says nothing about bytes.
    if (tag?.startsWith('"')) progress.tag = tag;
    await pour(reply, to, goesOn ? have : 0);
  });
}

async function pour(reply: HttpReply, to: string, at: number): Promise<void> {
  const file = await open(to, at === 0 ? "w" : "r+", 0o600);
  try {
    let position = at;
    for await (const piece of reply.body) {
      await file.write(piece, 0, piece.length, position);
      position += piece.length;
    }
  } finally {
    reply.discard();
    await file.close();
  }
}

/** Sends a file. Any 2xx is a success. */
export async function upload(
  path: string,
  { what, url, headers, tls }: Transfer,
  { clock }: Pick<TransferTools, "clock">,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { size } = await stat(path);
  await told(UploadFailed, what, signal, async () => {
    const reply = await requestOnce(
      { origin: url, clock, tls },
      {
        method: "PUT",
        path: `${url.pathname}${url.search}`,
        doing: what,
        headers: { ...headers(), "content-length": String(size) },
        body: createReadStream(path, { highWaterMark: 1 << 18 }),
        ...{ signal, connectMs: CONNECT_MS, idleMs: IDLE_MS, largest: LARGEST_REFUSAL },
      },
    );
    if (reply.status >= 200 && reply.status < 300) return reply.discard();
    // Such as which quota is used up.
    const said = await reply.text().catch(() => "");
    const why = `Error executing PUT, response was ${reply.status}`;
    throw UploadFailed({
      what,
      why: said.trim() === "" ? why : `${why}: ${said.trim().slice(0, MOST_SAID)}`,
    });
  });
}

/** Says what happened without the address. */
async function told(
  Failed: typeof DownloadFailed,
  what: string,
  signal: AbortSignal | undefined,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    signal?.throwIfAborted();
    // The disk failed, not the network: another try does not help.
    const full = ["ENOSPC", "EDQUOT", "EROFS"].includes(systemCode(error) ?? "");
    if (Failed.is(error) || full) throw error;
    throw Failed({ what, why: error instanceof HttpTrouble ? error.why : "it cannot be asked" });
  }
}
