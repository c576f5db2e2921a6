import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { isBlobId } from "@slipway/engine/blobs/blob-id";
import type { Clock } from "@slipway/kernel/clock";
import { systemCode, toError } from "@slipway/kernel/errors";
import { Connections, closeServer, connectionLimits, listen } from "@slipway/kernel/http-server";
import type { AgentId } from "@slipway/protocol/ids";
import type { BlobDepot } from "./blob-depot.ts";
import { BlobQuotaExceeded, CannotServeBlobs, NoRoomForBlobs, TooManyBlobs } from "./errors.ts";

export interface BlobServerOptions {
  readonly depot: BlobDepot;
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly certificate: string; readonly privateKey: string };
  /** Reports whether an agent takes part now. */
  readonly isThere: (agentId: string) => boolean;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Logs and compiled packages; more than any real one. */
const LARGEST = 8 * 2 ** 30;
const HEADERS_MS = 15_000;
const IDLE_MS = 60_000;
const MOST_CONNECTIONS = 1024;
const TELL_AGAIN_MS = 60_000;
const REFUSALS = [BlobQuotaExceeded, TooManyBlobs, NoRoomForBlobs];
const CLOSE_MS = 2_000;

/** A blobstore as agents of all kinds know it: WebDAV, as far as they use it. Each agent sees its own blobs alone. */
export class BlobServer {
  readonly #options: BlobServerOptions;
  readonly #server: Server;
  readonly #connections = new Connections(connectionLimits(MOST_CONNECTIONS));
  readonly #toldOf = new Map<AgentId, number>();

  constructor(options: BlobServerOptions) {
    this.#options = options;
    const { certificate: cert, privateKey: key } = options.tls;
    const patience = { handshakeTimeout: HEADERS_MS, headersTimeout: HEADERS_MS };
    this.#server = createServer({ cert, key, minVersion: "TLSv1.2", ...patience }, (request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        options.onError(error);
        if (response.headersSent) response.destroy();
        else end(response, systemCode(error) === "ENOSPC" ? 507 : 500);
      });
    });
    this.#server.setTimeout(IDLE_MS);
    this.#connections.watch(this.#server);
  }

  async start(): Promise<void> {
    const { host, port } = this.#options;
    await listen(this.#server, host, port).catch((cause: unknown) => {
      throw CannotServeBlobs({ host, port }, { cause });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  useCertificate({ certificate: cert, privateKey: key }: BlobServerOptions["tls"]): void {
    this.#server.setSecureContext({ cert, key, minVersion: "TLSv1.2" });
  }

  close(): Promise<void> {
    return closeServer(this.#server, this.#connections, this.#options.clock, CLOSE_MS);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const agentId = this.#caller(request.headers.authorization);
    if (agentId === undefined) {
      response.setHeader("WWW-Authenticate", 'Basic realm="blobs"');
      return refuse(request, response, 401);
    }
    const id = blobOf(request.url ?? "");
    if (id === undefined) return refuse(request, response, 404);
    const { depot } = this.#options;
    switch (request.method) {
      case "PUT":
        return await this.#take(agentId, id, request, response);
      case "GET":
      case "HEAD":
        return await this.#give(agentId, id, request, response);
      case "DELETE":
        await depot.remove(agentId, id);
        return end(response, 204);
      default:
        return refuse(request, response, 405);
    }
  }

  async #take(agentId: AgentId, id: string, request: IncomingMessage, response: ServerResponse) {
    const { depot, onError } = this.#options;
    const size = Number(request.headers["content-length"] ?? 0);
    // The connection must live until the refusal is sent.
    const content = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
    try {
      if (await depot.take(agentId, id, content, { size, most: LARGEST })) return end(response, 201);
      refuse(request, response, 413);
    } catch (error) {
      if (!REFUSALS.some((one) => one.is(error))) throw error;
      if (this.#isNews(agentId)) onError(error);
      refuse(request, response, 507, toError(error).message);
    }
  }

  /** Reports whether the last note about an agent's refused uploads is a while ago: the agent may try without end. */
  #isNews(agentId: AgentId): boolean {
    const now = this.#options.clock.monotonic();
    const last = this.#toldOf.get(agentId);
    if (last !== undefined && now - last < TELL_AGAIN_MS) return false;
    this.#toldOf.set(agentId, now);
    return true;
  }

  async #give(agentId: AgentId, id: string, request: IncomingMessage, response: ServerResponse) {
    const found = await this.#options.depot.open(agentId, id);
    if (found === undefined) return end(response, 404);
    response.writeHead(200, { "Content-Type": "application/octet-stream", "Content-Length": found.size });
    if (request.method === "HEAD") return void response.end();
    // Client aborts are expected; ignore them.
    await pipeline(found.content(), response).catch(() => response.destroy());
  }

  #caller(header: string | undefined): AgentId | undefined {
    const encoded = /^Basic ([A-Za-z0-9+/=]+)$/.exec(header ?? "")?.[1];
    if (encoded === undefined) return undefined;
    const [user = "", ...password] = Buffer.from(encoded, "base64").toString("utf8").split(":");
    const agentId = this.#options.depot.agentOf(user, password.join(":"));
    return agentId !== undefined && this.#options.isThere(agentId) ? agentId : undefined;
  }
}

/** Agents put a directory of two digits before the id. */
function blobOf(url: string): string | undefined {
  const encoded = /^\/(?:[0-9a-f]{2}\/)?([^/?#]+)$/.exec(url)?.[1];
  try {
    const id = encoded === undefined ? undefined : decodeURIComponent(encoded);
    return id !== undefined && isBlobId(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

/** Refuses a request without reading its body. */
function refuse(request: IncomingMessage, response: ServerResponse, status: number, why = ""): void {
  if (!request.complete) response.setHeader("Connection", "close");
  request.resume();
  end(response, status, why);
}

const end = (response: ServerResponse, status: number, why = ""): void => {
  const type = why === "" ? {} : { "Content-Type": "text/plain; charset=utf-8" };
  response.writeHead(status, { ...type, "Content-Length": Buffer.byteLength(why) }).end(why);
};
