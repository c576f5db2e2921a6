import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "./clock.ts";
import { networkName } from "./ip-address.ts";

/** Resolves when the server listens; rejects with the system's error when it cannot. */
export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

export interface ConnectionLimits {
  readonly most: number;
  /** Limit for one address, or for one IPv6 network of 64 bits. */
  readonly mostPerAddress: number;
}

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** Requests that are not answered yet. */
  requests: number;
  /** True once a request has arrived on the connection. */
  used: boolean;
}

/**
 * Keeps the connections of servers within limits. A connection over a limit replaces the idle connection that has waited longest:
 * first one without any request yet, so that a client that only connects displaces itself. If every connection has a
 * request under way, the new connection is closed.
 *
 * Node's own list (`closeAllConnections`) lacks connections whose TLS handshake is not done: those hold a descriptor, and
 * keep `server.close` waiting.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  /** Connections by remote address and port, longest idle first. */
  readonly #open = new Map<string, Connection>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Must follow the registration of the server's own request listeners: the same kinds of requests are counted. */
  watch(server: Server): void {
    server.on("connection", (socket: Socket) => this.#accept(socket));
    // A server that listens for `checkContinue` must answer such requests itself.
    const events = server.listenerCount("checkContinue") > 0 ? ["request", "checkContinue"] : ["request"];
    for (const event of events) {
      server.prependListener(event, (request: IncomingMessage, response: ServerResponse) =>
        this.#begin(request, response),
      );
    }
    // Nothing can be written before the handshake is done: `socket.end` would wait for it for ever.
    server.prependListener("tlsClientError", (_error: Error, socket: Socket) => socket.destroy());
  }

  get size(): number {
    return this.#open.size;
  }

  /** Ends connections without a request under way. */
  endIdle(): void {
    for (const one of [...this.#open.values()]) if (one.requests === 0) one.socket.destroy();
  }

  endAll(): void {
    for (const one of [...this.#open.values()]) one.socket.destroy();
  }

  #accept(socket: Socket): void {
    const address = networkName(socket.remoteAddress ?? "");
    const same = [...this.#open.values()].filter((one) => one.address === address);
    const { most, mostPerAddress } = this.#limits;
    const crowd =
      same.length >= mostPerAddress ? same : this.#open.size >= most ? this.#largest() : undefined;
    if (crowd !== undefined) {
      const idle = crowd.find((one) => !one.used) ?? crowd.find((one) => one.requests === 0);
      (idle?.socket ?? socket).destroy();
      if (idle === undefined) return;
    }
    const key = keyOf(socket);
    const connection = { socket, address, requests: 0, used: false };
    this.#open.set(key, connection);
    socket.once("close", () => this.#forget(key, connection));
    // Closing takes a moment; a replaced connection must not count until then.
    if (crowd !== undefined)
      for (const [k, one] of this.#open) if (one.socket.destroyed) this.#forget(k, one);
  }

  /** Connections of the address that has the most. */
  #largest(): readonly Connection[] {
    const groups = new Map<string, Connection[]>();
    for (const one of this.#open.values()) {
      const group = groups.get(one.address);
      if (group === undefined) groups.set(one.address, [one]);
      else group.push(one);
    }
    return [...groups.values()].reduce((a, b) => (b.length > a.length ? b : a), []);
  }

  #forget(key: string, connection: Connection): void {
    if (this.#open.get(key) === connection) this.#open.delete(key);
  }

  #begin({ socket }: IncomingMessage, response: ServerResponse): void {
    const key = keyOf(socket);
    const connection = this.#open.get(key);
    if (connection === undefined) return;
    connection.requests += 1;
    connection.used = true;
    response.once("close", () => {
      connection.requests -= 1;
      if (this.#open.get(key) !== connection) return;
      // Now the most recently idle.
      this.#open.delete(key);
      this.#open.set(key, connection);
    });
  }
}

/** The same for a TCP connection and the TLS connection over it. */
const keyOf = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`;

const FEWEST_CONNECTIONS = 4;

/**
 * Limits within the descriptors that are free now. Connections get a quarter of them: a request may hold a file as well,
 * and the rest stays for the work of the process. One address gets half of the connections.
 */
export function connectionLimits(most: number, files = openFiles()): ConnectionLimits {
  const share = files === undefined ? most : Math.floor((files.limit - files.used) / 4);
  const allowed = Math.max(FEWEST_CONNECTIONS, Math.min(most, share));
  return { most: allowed, mostPerAddress: Math.ceil(allowed / 2) };
}

/** Descriptors this process may have and has; undefined where the system does not say. */
export function openFiles(): { readonly limit: number; readonly used: number } | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return soft === undefined
      ? undefined
      : { limit: Number(soft), used: readdirSync("/proc/self/fd").length };
  } catch {
    return undefined;
  }
}

/** Takes no more requests and lets those under way finish, for `graceMs` at most. Then every connection ends. */
export function closeServer(
  server: Server,
  connections: Connections,
  clock: Clock,
  graceMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(graceMs, () => connections.endAll());
    server.close(() => {
      cancel();
      resolve();
    });
    connections.endIdle();
  });
}
