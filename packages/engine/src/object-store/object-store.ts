import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { retry } from "@slipway/kernel/backoff";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode } from "@slipway/kernel/errors";
import { type HttpReply, HttpTrouble, requestOnce } from "@slipway/kernel/http/client";
import { follow } from "@slipway/kernel/http/follow";
import type { HttpTls, MakeWire } from "@slipway/kernel/http/wire";
import type { Random } from "@slipway/kernel/random";

/** Objects by key, in a bucket of some server. */
export interface ObjectStore {
  /** Names the bucket and its server in messages. Holds no credential. */
  readonly where: string;
  /** Writes the object into a file, instead of what was there. */
  fetch(key: string, file: string): Promise<void>;
  /** Stores a file under a key. The server compares a checksum where its protocol has one. */
  store(key: string, file: string): Promise<void>;
}

export interface ObjectStoreTools {
  readonly clock: Clock;
  readonly random: Random;
  /** Environment in which SDKs look for credentials and emulators. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
  readonly wire?: MakeWire | undefined;
}

/** Content of a file that is going to be sent. */
export interface Payload {
  readonly size: number;
  /** In hex. */
  readonly sha256: string;
  /** In base64. */
  readonly md5: string;
}

/** One request for an object. Both parts may hold credentials and are in no message. */
export interface ObjectRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** How the objects of one provider are asked for. Requests are made for each try: a signature has a time in it. */
export interface ObjectAccess {
  readonly where: string;
  readonly tls?: HttpTls | undefined;
  /** The requests to try one after the other, until the server grants one. */
  get(key: string): readonly (() => Promise<ObjectRequest>)[];
  /** Throws `ObjectTrouble` if there is nothing to write with. */
  put(key: string, payload: Payload): Promise<ObjectRequest>;
  /** The code of an error in the words of its protocol. */
  codeOf?(reply: HttpReply, body: string): string | undefined;
}

/**
 * Why an object cannot be had. `missing`: the server has no such object; `refused`: the server does not allow it, or the
 * options do not; `unreachable`: there is no server, or it fails. Callers say in words of their own what follows from it.
 */
export class ObjectTrouble extends Error {
  override readonly name = "ObjectTrouble";
  readonly kind: "missing" | "refused" | "unreachable";

  constructor(kind: ObjectTrouble["kind"], why: string) {
    super(why);
    this.kind = kind;
  }
}

const RETRIES = { tries: 3, firstDelayMs: 500, longestDelayMs: 4_000 };
const CONNECT_MS = 30_000;
const IDLE_MS = 120_000;
const LARGEST_REFUSAL = 64 << 10;
/** Answers after which another try may succeed. */
const TRANSIENT = [408, 429, 500, 502, 503, 504];

export function objectStore(access: ObjectAccess, tools: ObjectStoreTools): ObjectStore {
  const { clock, signal, wire } = tools;
  const { where, tls } = access;
  const limits = { signal, connectMs: CONNECT_MS, idleMs: IDLE_MS };
  const options = { clock, tls, wire };

  return {
    where,
    fetch: (key, file) =>
      trying("GET", async () => {
        const requests = access.get(key);
        for (const [at, make] of requests.entries()) {
          const { url, headers } = await make();
          const reply = await follow(url, { method: "GET", doing: "GET", headers, ...limits }, options);
          if (reply.status === 200) return await pour(reply, file);
          const refused = await refusal(reply);
          // Another request may be allowed what this one is not.
          if (refused.kind === "unreachable" || at === requests.length - 1) throw refused;
        }
      }),
    store: async (key, file) => {
      const payload = await payloadOf(file);
      await trying("PUT", async () => {
        const { url, headers } = await access.put(key, payload);
        const reply = await requestOnce(
          { origin: url, ...options },
          {
            method: "PUT",
            path: `${url.pathname}${url.search}`,
            doing: "PUT",
            headers: { ...headers, "content-length": String(payload.size) },
            body: createReadStream(file, { highWaterMark: 1 << 18 }),
            ...limits,
          },
        );
        if (reply.status < 200 || reply.status >= 300) throw await refusal(reply);
        reply.discard();
      });
    },
  };

  async function trying(method: string, work: () => Promise<void>): Promise<void> {
    const attempt = async () => {
      try {
        await work();
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof HttpTrouble)) throw error;
        // Its own message has the address, where credentials may be.
        const code = error.code === undefined || error.why.includes(error.code) ? "" : ` (${error.code})`;
        throw new ObjectTrouble("unreachable", `${method} failed: ${error.why}${code}`);
      }
    };
    const again = (error: unknown) => error instanceof ObjectTrouble && error.kind === "unreachable";
    await retry(attempt, again, RETRIES, tools);
  }

  async function refusal(reply: HttpReply): Promise<ObjectTrouble> {
    const body = await bodyOf(reply);
    const code = access.codeOf?.(reply, body);
    const why = `the server answered ${reply.status}${code === undefined ? "" : ` ${code}`}`;
    if (reply.status === 404) return new ObjectTrouble("missing", why);
    return new ObjectTrouble(TRANSIENT.includes(reply.status) ? "unreachable" : "refused", why);
  }
}

async function bodyOf(reply: HttpReply): Promise<string> {
  let text = "";
  try {
    for await (const piece of reply.body) {
      text += Buffer.from(piece).toString("latin1");
      if (text.length > LARGEST_REFUSAL) break;
    }
  } catch {
    // The status says enough.
  }
  return text;
}

async function pour(reply: HttpReply, path: string): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    for await (const piece of reply.body) await file.appendFile(piece);
  } finally {
    reply.discard();
    await file.close();
  }
}

async function payloadOf(file: string): Promise<Payload> {
  const { size } = await stat(file);
  const [sha256, md5] = [createHash("sha256"), createHash("md5")];
  for await (const piece of createReadStream(file, { highWaterMark: 1 << 18 })) {
    sha256.update(piece as Buffer);
    md5.update(piece as Buffer);
  }
  return { size, sha256: sha256.digest("hex"), md5: md5.digest("base64") };
}

/** The code in an error of S3 and its like. The rest of such an answer may quote what was signed. */
export const xmlCode = (_: HttpReply, body: string): string | undefined =>
  /<Code>([A-Za-z0-9.]{1,80})<\/Code>/.exec(body)?.[1];

/** Asks a server for a credential. Failures say nothing of what was sent. */
export async function askForCredential(
  what: string,
  url: URL,
  request: {
    readonly method: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  },
  { clock, signal, wire }: ObjectStoreTools,
): Promise<string> {
  try {
    const path = `${url.pathname}${url.search}`;
    const asked = { ...request, path, doing: what, signal, withinMs: CONNECT_MS, largest: LARGEST_REFUSAL };
    const reply = await requestOnce({ origin: url, clock, wire }, asked);
    const text = await reply.text();
    if (reply.status === 200) return text;
    const code = xmlCode(reply, text) ?? /"error"\s*:\s*"([a-z_]{1,80})"/.exec(text)?.[1];
    const why = `${what}: the server answered ${reply.status}${code === undefined ? "" : ` ${code}`}`;
    throw new ObjectTrouble(TRANSIENT.includes(reply.status) ? "unreachable" : "refused", why);
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof HttpTrouble)) throw error;
    throw new ObjectTrouble("unreachable", `${what}: ${error.why || systemCode(error) || "it failed"}`);
  }
}
