import { rm } from "node:fs/promises";
import { createConnection, createServer, type Server, type Socket } from "node:net";

/**
 * Before the engine gets the request, or after it has carried it out and no reply arrives. `meanwhile`: just
 * before the engine hears of it, and all goes on.
 */
export type FaultMoment = "before" | "after" | "meanwhile";

/** Stands before an engine's socket, counts requests, and lets something happen at one of them. */
export class EngineProxy {
  readonly path: string;
  readonly #server: Server;
  #requests = 0;
  #trap: { readonly at: number; readonly moment: FaultMoment; readonly spring: () => unknown } | undefined;

  private constructor(path: string, engine: string) {
    this.path = path;
    this.#server = createServer((client) => this.#serve(client, engine));
  }

  static async open(path: string, engine: string): Promise<EngineProxy> {
    const proxy = new EngineProxy(path, engine);
    await new Promise<void>((resolve) => proxy.#server.listen(path, resolve));
    return proxy;
  }

  /** Counts from the next request on. */
  trap(at: number, moment: FaultMoment, spring: () => unknown): void {
    this.#requests = 0;
    this.#trap = { at, moment, spring };
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.path, { force: true });
  }

  /** This client makes one connection for each request. */
  #serve(client: Socket, engine: string): void {
    this.#requests += 1;
    const trap = this.#trap?.at === this.#requests ? this.#trap : undefined;
    client.on("error", () => undefined);
    if (trap?.moment === "before") {
      trap.spring();
      client.destroy();
      return;
    }
    if (trap?.moment === "meanwhile") {
      void Promise.resolve(trap.spring()).then(() => forward(client, engine));
      return;
    }
    if (trap === undefined) {
      forward(client, engine);
      return;
    }
    const upstream = createConnection(engine);
    upstream.on("error", () => client.destroy());
    upstream.on("close", () => client.end());
    client.pipe(upstream, { end: false });
    upstream.once("data", () => {
      trap.spring();
      client.destroy();
      upstream.resume();
    });
  }
}

function forward(client: Socket, engine: string): void {
  const upstream = createConnection(engine);
  upstream.on("error", () => client.destroy());
  upstream.on("close", () => client.end());
  client.on("close", () => upstream.destroy());
  client.pipe(upstream, { end: false });
  upstream.pipe(client);
}
