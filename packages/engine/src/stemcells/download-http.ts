import { Readable } from "node:stream";

/** What comes, and how much of it is announced; `undefined` when it is not. */
export interface RemoteBody {
  readonly body: Readable;
  readonly size: number | undefined;
}

const MOST_REDIRECTS = 10;

/** Asks for a file over http or https, following redirects. Credentials in the address go only to its own host. */
export async function remoteBody(start: URL, signal: AbortSignal): Promise<RemoteBody> {
  let url = start;
  const authorization = basicAuth(start);
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    const headers = new Headers({ accept: "*/*", "accept-encoding": "identity" });
    if (authorization !== undefined && url.origin === start.origin)
      headers.set("authorization", authorization);
    const response = await fetch(bare(url), { redirect: "manual", headers, signal });
    if (response.status === 200) return bodyOf(response);
    await response.body?.cancel();
    if (![301, 302, 303, 307, 308].includes(response.status)) throw new Error(`got HTTP ${response.status}`);
    url = redirected(url, response.headers.get("location"));
  }
  throw new Error(`it redirects more than ${MOST_REDIRECTS} times`);
}

function redirected(from: URL, location: string | null): URL {
  if (location === null || !URL.canParse(location, from.href)) throw new Error("it redirects to nowhere");
  const to = new URL(location, from);
  if (!["http:", "https:"].includes(to.protocol)) throw new Error(`it redirects to a ${to.protocol} address`);
  if (from.protocol === "https:" && to.protocol === "http:")
    throw new Error("it redirects from https to http");
  return to;
}

function bodyOf(response: Response): RemoteBody {
  const length = response.headers.get("content-length");
  const size = length !== null && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
  return { body: Readable.from(chunks(response.body)), size };
}

async function* chunks(body: Response["body"]): AsyncGenerator<Uint8Array> {
  if (body !== null) yield* body;
}

function basicAuth(url: URL): string | undefined {
  if (url.username === "" && url.password === "") return undefined;
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

function bare(url: URL): URL {
  const copy = new URL(url);
  copy.username = "";
  copy.password = "";
  return copy;
}
