import { open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Clock } from "@slipway/kernel/clock";
import { SlipwayError, systemCode } from "@slipway/kernel/errors";
import { HttpTrouble } from "@slipway/kernel/http/client";
import { follow } from "@slipway/kernel/http/follow";
import type { ProxySettings } from "@slipway/kernel/http/proxy";
import { proxiedWire } from "@slipway/kernel/http/proxy-wire";
import { undiciWire } from "@slipway/kernel/http/undici-wire";
import type { MakeWire } from "@slipway/kernel/http/wire";
import { BadAddress, DownloadFailed, NotEnoughDisk } from "./errors.ts";
import { type FreeSpace, freeSpace } from "./free-space.ts";

export interface DownloadOptions {
  /** For messages: what is fetched; a stemcell unless it is said. */
  readonly what?: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  readonly freeSpace?: FreeSpace;
  readonly proxy?: ProxySettings | undefined;
  /** Before `proxy`. */
  readonly wire?: MakeWire | undefined;
  /** How long the other side may say nothing. */
  readonly idleMs?: number;
}

const IDLE_MS = 60_000;
/** Bytes between two looks at the space that is left. */
const LOOK_EVERY = 16 << 20;

/** Fetches a stemcell or a release into the new file `to`. When it fails nothing is left there. */
export async function downloadArchive(url: string, to: string, options: DownloadOptions): Promise<void> {
  const { what = "stemcell" } = options;
  const source = parseUrl(url, what);
  const name = shownUrl(source);
  const look = () => (options.freeSpace ?? freeSpace)(dirname(to));
  let free = await look();
  const tooBig = () => NotEnoughDisk({ what: `the ${what} at ${name}`, free });
  const file = await open(to, "wx", 0o600);
  let whole = false;
  try {
    const { body, size } = await openSource(source, options);
    let seen = 0;
    let lookAt = LOOK_EVERY;
    if (size === undefined || size <= free) {
      for await (const chunk of body) {
        seen += chunk.length;
        // Others write meanwhile, such as downloads that began at the same time.
        if (seen >= lookAt) {
          free = Math.min(free, seen + (await look()));
          lookAt = seen + LOOK_EVERY;
        }
        if (seen > free) break;
        await file.appendFile(chunk);
      }
    }
    if (Math.max(seen, size ?? 0) > free) throw tooBig();
    await file.sync();
    whole = true;
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof SlipwayError && error.number !== undefined) throw error;
    if (systemCode(error) === "ENOSPC") throw tooBig();
    throw DownloadFailed({ what, url: name, why: reason(error) }, { cause: error });
  } finally {
    await file.close();
    if (!whole) await rm(to, { force: true });
  }
}

function parseUrl(text: string, what: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && ["http:", "https:", "file:"].includes(url.protocol)) return url;
  throw BadAddress({ what });
}

/** An address for people: without user, password and query, where credentials travel. */
const shownUrl = (url: URL): string => `${url.protocol}//${url.host}${url.pathname}`;

/** A download and its announced size; `undefined` if none was announced. */
interface Source {
  readonly body: AsyncIterable<Uint8Array>;
  readonly size: number | undefined;
}

async function openSource(url: URL, options: DownloadOptions): Promise<Source> {
  if (url.protocol !== "file:") return await remote(url, options);
  const path = fileURLToPath(url);
  const found = await stat(path);
  if (!found.isFile()) throw new Error("it is not a file");
  const file = await open(path, "r");
  return {
    body: file.createReadStream({ highWaterMark: 1 << 18, signal: options.signal }),
    size: found.size,
  };
}

async function remote(
  url: URL,
  { clock, signal, idleMs = IDLE_MS, proxy = {}, wire: given }: DownloadOptions,
): Promise<Source> {
  const wire = given ?? proxiedWire(proxy, undiciWire);
  const headers = { accept: "*/*", "accept-encoding": "identity" };
  const reply = await follow(url, { method: "GET", headers, signal, idleMs }, { clock, wire });
  if (reply.status !== 200) {
    reply.discard();
    throw new Error(`got HTTP ${reply.status}`);
  }
  const length = reply.header("content-length") ?? "";
  return { body: reply.body, size: /^\d{1,15}$/.test(length) ? Number(length) : undefined };
}

function reason(error: unknown): string {
  if (error instanceof HttpTrouble) return error.kind === "silent" ? "the other side fell silent" : error.why;
  if (systemCode(error) === "ENOENT") return "there is no such file";
  if (!(error instanceof Error)) return "it failed";
  return error.message === "" ? (systemCode(error) ?? "it failed") : error.message;
}
