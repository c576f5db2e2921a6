import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import type { BlobDirectory } from "./blob-directory.ts";
import { isBlobId } from "./blob-directory.ts";
import { BlobTooLarge } from "./errors.ts";
import type { RequestHandler } from "./transport.ts";

export interface HttpsContext {
  readonly authorized: (header: string | undefined) => boolean;
  readonly handler: RequestHandler;
  readonly blobs: BlobDirectory;
  readonly clock: Clock;
  /** Largest request envelope in bytes. */
  readonly largestRequest: number;
  /** How long a client may send nothing of its body, or take nothing of its answer. */
  readonly idleMs: number;
}

/** Limit for reading an unwanted body before the connection is cut. */
const MOST_DISCARDED = 16 << 20;

/** Answers one HTTP request by upstream's table of routes. */
export async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  context: HttpsContext,
): Promise<void> {
  const path = (request.url ?? "").split("?", 1)[0] ?? "";
  const blobs = path.startsWith("/blobs/");
  if (!blobs && path !== "/agent") return await refuse(request, response, context, 404);
  if (!context.authorized(request.headers.authorization)) {
    response.setHeader("WWW-Authenticate", 'Basic realm=""');
    return await refuse(request, response, context, 401);
  }
  if (!blobs && request.method === "POST") return await answerEnvelope(request, response, context);
  if (blobs && request.method === "PUT") return await putBlob(path, request, response, context);
  if (blobs && request.method === "GET") return await getBlob(path, request, response, context);
  await refuse(request, response, context, 404);
}

async function answerEnvelope(
  request: IncomingMessage,
  response: ServerResponse,
  context: HttpsContext,
): Promise<void> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of patiently(request, context)) {
      size += chunk.length;
      if (size > context.largestRequest) return await refuse(request, response, context, 413);
      chunks.push(chunk);
    }
  } catch {
    // The client is gone or too slow; if it still listens, this is what upstream says.
    return end(response, 400);
  }
  const body = Buffer.concat(chunks).toString("utf8");
  const handled = await context.handler(body, request.socket.remoteAddress ?? "a client that is gone");
  if (handled.kind === "unreadable") return end(response, 500);
  end(response, 200, JSON.stringify(handled.reply), "application/json");
}

async function putBlob(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  context: HttpsContext,
): Promise<void> {
  const id = blobId(path);
  if (id === undefined) return await refuse(request, response, context, 400, "this is not a blob id");
  try {
    await context.blobs.put(id, patiently(request, context));
  } catch (error) {
    if (response.destroyed) return;
    const status = BlobTooLarge.is(error) ? 413 : 500;
    return await refuse(request, response, context, status, messageTrail(error));
  }
  end(response, 201);
}

async function getBlob(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  context: HttpsContext,
): Promise<void> {
  const id = blobId(path);
  const found = id === undefined ? undefined : await context.blobs.get(id);
  if (found === undefined) return await refuse(request, response, context, 404);
  response.writeHead(200, { "Content-Type": "application/octet-stream", "Content-Length": found.size });
  // The socket's own timer, for this answer only: elsewhere silence is an action that takes its time.
  request.socket.setTimeout(context.idleMs, () => request.socket.destroy());
  await pipeline(found.content, response).catch(() => response.destroy());
  request.socket.setTimeout(0);
}

/** Only the last part of the path counts: the CLI puts a directory in front. */
function blobId(path: string): string | undefined {
  try {
    const id = decodeURIComponent(path.slice(path.lastIndexOf("/") + 1));
    return isBlobId(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

/** The body as it comes, until its sender falls silent for too long. */
async function* patiently(request: IncomingMessage, context: HttpsContext): AsyncGenerator<Uint8Array> {
  const watch = () =>
    context.clock.after(context.idleMs, () => request.destroy(new Error("the client fell silent")));
  let cancel = watch();
  try {
    // Leaving early must not cut the connection: the client still needs the error.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      cancel();
      yield chunk;
      cancel = watch();
    }
  } finally {
    cancel();
  }
}

/**
 * Answers without having wanted the body. It is read to its end all the same, within limits: closing earlier would
 * reset the connection, and the client would lose the answer.
 */
async function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  context: HttpsContext,
  status: number,
  text = "",
): Promise<void> {
  if (!request.complete) response.setHeader("Connection", "close");
  head(response, status, text, "text/plain");
  if (text === "") response.flushHeaders();
  else response.write(text);
  let discarded = 0;
  try {
    for await (const chunk of patiently(request, context)) {
      discarded += chunk.length;
      if (discarded > MOST_DISCARDED) break;
    }
  } catch {
    // Gone, and so be it.
  }
  response.end();
}

function end(response: ServerResponse, status: number, text = "", type = "text/plain"): void {
  head(response, status, text, type);
  response.end(text);
}

const head = (response: ServerResponse, status: number, text: string, type: string) =>
  response.writeHead(status, { "Content-Type": type, "Content-Length": Buffer.byteLength(text) });
