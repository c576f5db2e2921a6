import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

export interface BlobRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

export interface BlobServer {
  readonly url: string;
  readonly asked: BlobRequest[];
  readonly blobs: Map<string, Buffer>;
  /** Faults for the next requests, in order. */
  readonly troubles: BlobFault[];
}

/** A status; a connection that breaks after so many bytes, once they have arrived; bytes that are flipped on the way. */
export type BlobFault =
  | number
  | { readonly breakAfter: number; readonly arrived?: () => Promise<unknown> }
  | "flip";

/** A real HTTP server that keeps blobs by path, with parts and tags by default. */
export async function blobServer(
  options: {
    readonly ranges?: boolean;
    readonly allow?: (asked: BlobRequest) => boolean;
    readonly tls?: { readonly cert: string; readonly key: string };
  } = {},
): Promise<BlobServer> {
  const blobs = new Map<string, Buffer>();
  const asked: BlobRequest[] = [];
  const troubles: BlobFault[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const one: BlobRequest = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body,
    };
    asked.push(one);
    const trouble = troubles.shift();
    if (typeof trouble === "number") return void response.writeHead(trouble).end("no");
    if (options.allow?.(one) === false) return void response.writeHead(403).end("no");
    if (one.method === "PUT") {
      blobs.set(one.path, body);
      return void response.writeHead(201).end();
    }
    const blob = blobs.get(one.path);
    if (blob === undefined) return void response.writeHead(404).end();
    const from =
      options.ranges === false ? 0 : Number(/^bytes=(\d+)-$/.exec(one.headers.range ?? "")?.[1] ?? 0);
    const sent = trouble === "flip" ? Buffer.from(blob.map((byte) => byte ^ 1)) : blob;
    response.writeHead(from > 0 ? 206 : 200, {
      "content-length": sent.length - from,
      ...(options.ranges !== false && { etag: '"one"', "accept-ranges": "bytes" }),
      ...(from > 0 && { "content-range": `bytes ${from}-${blob.length - 1}/${blob.length}` }),
    });
    if (typeof trouble === "object")
      response.write(sent.subarray(from, from + trouble.breakAfter), () => {
        void (trouble.arrived?.() ?? Promise.resolve()).finally(() => response.destroy());
      });
    else response.end(sent.subarray(from));
  };
  const listener = (request: IncomingMessage, response: ServerResponse) => void answer(request, response);
  const { tls } = options;
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    blobs,
    troubles,
  };
}
