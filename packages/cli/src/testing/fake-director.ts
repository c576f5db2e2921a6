import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { type AddressInfo, isIP, type Socket } from "node:net";
import { join } from "node:path";
import { openAuthority } from "@slipway/engine/pki/authority";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { temporaryDirectory } from "@slipway/testkit/temporary";

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly bytes: Uint8Array;
}

export interface FakeAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The connection is cut in place of an answer. */
  readonly cut?: boolean;
  /** Answered before the body is read. */
  readonly early?: boolean;
}

export type FakeHandler = FakeAnswer | ((seen: SeenRequest) => FakeAnswer);

export interface FakeTask {
  /** One for each time it is asked; the last one stays. */
  readonly states?: readonly string[];
  readonly event?: string;
  readonly result?: string;
  readonly debug?: string;
  /** Fields of the task's own document. */
  readonly about?: object;
}

/** A Director with prepared answers, over TLS. Records the requests it receives. */
export class FakeDirector {
  readonly seen: SeenRequest[] = [];
  /** How many there were. */
  connections = 0;
  readonly #routes = new Map<string, FakeHandler>();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #remove: () => Promise<void>;
  readonly dir: string;
  readonly ca: string;

  private constructor(server: Server, ca: string, dir: string, remove: () => Promise<void>) {
    this.#server = server;
    this.ca = ca;
    this.dir = dir;
    this.#remove = remove;
    server.on("request", (request, response) => void this.#serve(request, response));
    server.on("connection", (socket: Socket) => {
      this.connections++;
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  /** `names`: what its certificate is made for. */
  static async start(names: readonly string[] = ["127.0.0.1"]): Promise<FakeDirector> {
    const { path, remove } = await temporaryDirectory();
    const authority = await openAuthority({ dir: path, clock: systemClock, random: systemRandom });
    const { privateKey, certificate, ca } = await authority.issue({
      commonName: "fake",
      sans: {
        dns: names.filter((name) => isIP(name) === 0),
        ips: names.filter((name) => isIP(name) !== 0),
      },
      usage: "server",
      days: 1,
    });
    const server = createServer({ key: privateKey, cert: certificate });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new FakeDirector(server, ca, path, remove);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  file(name: string): string {
    return join(this.dir, name);
  }

  /** `GET /info`, with or without its query. */
  on(request: string, handler: FakeHandler): this {
    this.#routes.set(request, handler);
    return this;
  }

  json(request: string, document: unknown): this {
    return this.on(request, { body: JSON.stringify(document) });
  }

  /** A request that starts a task, and that task. */
  task(request: string, id: number, { states = ["done"], about = {}, ...outputs }: FakeTask): this {
    let asked = 0;
    this.on(request, { status: 302, headers: { location: `/tasks/${id}` } });
    this.on(`GET /tasks/${id}`, () => {
      const state = states[Math.min(asked++, states.length - 1)];
      return { body: JSON.stringify({ id, state, description: "a task", result: null, ...about }) };
    });
    return this.on(`GET /tasks/${id}/output`, ({ url, headers }) => {
      const type = new URL(url, this.url).searchParams.get("type") ?? "";
      const whole = Buffer.from((outputs as Record<string, string | undefined>)[type] ?? "");
      const from = /^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1];
      if (from === undefined) return { body: whole.toString() };
      if (Number(from) >= whole.length) return { status: 416 };
      return { status: 206, body: whole.subarray(Number(from)).toString() };
    });
  }

  asked(method: string): readonly string[] {
    return this.seen.filter((one) => one.method === method).map(({ url }) => url);
  }

  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await this.#remove();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    const handler =
      this.#routes.get(`${method} ${url}`) ?? this.#routes.get(`${method} ${url.replace(/\?.*$/, "")}`);
    const early = typeof handler === "object" && handler.early === true;
    const bytes = early ? Buffer.alloc(0) : await bodyOf(request);
    const seen = { method, url, headers, body: bytes.toString("utf8"), bytes };
    this.seen.push(seen);
    const answer =
      typeof handler === "function" ? handler(seen) : (handler ?? { status: 404, body: "no such path" });
    if (answer.cut === true) {
      request.socket.destroy();
      return;
    }
    response.writeHead(answer.status ?? 200, { ...answer.headers });
    response.end(answer.body ?? "");
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export const INFO = {
  name: "lab",
  uuid: "5d1c7d0e-0a53-4c35-9f5e-1f0a7b9b2f10",
  version: "282.1.0 (00000000)",
  user: "admin",
  cpi: "warden_cpi",
  stemcell_os: "ubuntu-jammy",
  stemcell_version: "1.785",
  user_authentication: { type: "basic", options: {} },
  features: { snapshots: { status: false }, local_dns: { status: true } },
};
