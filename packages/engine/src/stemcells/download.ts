import { open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { addAbortSignal } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Clock } from "@slipway/kernel/clock";
import { SlipwayError, systemCode } from "@slipway/kernel/errors";
import { type RemoteBody, remoteBody } from "./download-http.ts";
import { BadAddress, DownloadFailed, NotEnoughDisk } from "./errors.ts";
import { type FreeSpace, freeSpace } from "./free-space.ts";

export interface DownloadOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  readonly freeSpace?: FreeSpace;
  /** How long the other side may say nothing. */
  readonly idleMs?: number;
}

const IDLE_MS = 60_000;

/** Fetches a stemcell into the new file `to`. When it fails nothing is left there. */
export async function downloadStemcell(url: string, to: string, options: DownloadOptions): Promise<void> {
  const source = parseUrl(url);
  const name = shownUrl(source);
  const free = await (options.freeSpace ?? freeSpace)(dirname(to));
  const tooBig = () => NotEnoughDisk({ what: `the stemcell at ${name}`, free });
  const idle = idleWatch(options.clock, options.idleMs ?? IDLE_MS, options.signal);
  const file = await open(to, "wx", 0o600);
  let whole = false;
  try {
    const { body, size } = await openSource(source, idle.signal);
    addAbortSignal(idle.signal, body);
    let seen = 0;
    if (size === undefined || size <= free) {
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        idle.heard();
        seen += chunk.length;
        if (seen > free) break;
        await file.appendFile(chunk);
      }
    }
    body.destroy();
    if (Math.max(seen, size ?? 0) > free) throw tooBig();
    await file.sync();
    whole = true;
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof SlipwayError && error.number !== undefined) throw error;
    if (systemCode(error) === "ENOSPC") throw tooBig();
    throw DownloadFailed({ url: name, why: reason(error, idle.timedOut()) }, { cause: error });
  } finally {
    idle.stop();
    await file.close();
    if (!whole) await rm(to, { force: true });
  }
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && ["http:", "https:", "file:"].includes(url.protocol)) return url;
  throw BadAddress({});
}

/** An address for people: without user, password and query, where credentials travel. */
const shownUrl = (url: URL): string => `${url.protocol}//${url.host}${url.pathname}`;

async function openSource(url: URL, signal: AbortSignal): Promise<RemoteBody> {
  if (url.protocol !== "file:") return remoteBody(url, signal);
  const path = fileURLToPath(url);
  const found = await stat(path);
  if (!found.isFile()) throw new Error("it is not a file");
  const file = await open(path, "r");
  return { body: file.createReadStream({ highWaterMark: 1 << 18 }), size: found.size };
}

function reason(error: unknown, timedOut: boolean): string {
  if (timedOut) return "the other side fell silent";
  const code = systemCode(error);
  if (code === "ENOENT") return "there is no such file";
  if (!(error instanceof Error)) return "it failed";
  // What fetch throws says nothing; its cause does, and names the host, never the credentials.
  const cause = error.cause instanceof Error ? error.cause : error;
  return cause.message === "" ? (systemCode(cause) ?? "it failed") : cause.message;
}

/** A signal that is aborted with `outer`, or when nothing was `heard` for `ms`. */
function idleWatch(clock: Clock, ms: number, outer: AbortSignal | undefined) {
  const controller = new AbortController();
  let silent = false;
  const expire = () => {
    silent = true;
    controller.abort(new Error("no data came"));
  };
  const onOuter = () => controller.abort(outer?.reason);
  if (outer?.aborted) onOuter();
  outer?.addEventListener("abort", onOuter, { once: true });
  let cancel = clock.after(ms, expire);
  return {
    signal: controller.signal,
    timedOut: () => silent,
    heard: () => {
      cancel();
      cancel = clock.after(ms, expire);
    },
    stop: () => {
      cancel();
      outer?.removeEventListener("abort", onOuter);
    },
  };
}
