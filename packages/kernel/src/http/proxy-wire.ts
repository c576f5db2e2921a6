import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { Duplex } from "node:stream";
import { ProxyError } from "../proxy-error.ts";
import { pour } from "./node-wire.ts";
import { type ProxySettings, proxyFor } from "./proxy.ts";
import { startTls } from "./start-tls.ts";
import {
  type HttpWire,
  hostOf,
  type MakeWire,
  type OutgoingRequest,
  portOf,
  type Trace,
  type WireReply,
  type WireTarget,
} from "./wire.ts";

/** Requests through a proxy where the settings have one for the address, else by the other wire. */
export const proxiedWire =
  (settings: ProxySettings, otherwise: MakeWire): MakeWire =>
  (target) => {
    const proxy = proxyFor(target.url, settings);
    return proxy === undefined ? otherwise(target) : new ProxyWire(target, proxy);
  };

export class HttpProxyTrouble extends ProxyError {
  override readonly name = "HttpProxyTrouble";
}

const WANTS_PASSWORD = 407;

/** Tunnels requests with TLS, so that the proxy sees only the server's name. Other requests are made by the proxy. */
class ProxyWire implements HttpWire {
  readonly #target: WireTarget;
  readonly #proxy: URL;

  constructor(target: WireTarget, proxy: URL) {
    this.#target = target;
    this.#proxy = proxy;
  }

  async send(sent: OutgoingRequest, signal: AbortSignal, trace: Trace): Promise<WireReply> {
    const { url, tls } = this.#target;
    const { method, headers, body } = sent;
    if (url.protocol !== "https:") {
      const path = `${url.origin}${sent.path}`;
      return await answerTo(await this.#toProxy({ method, path, headers, signal }), body, trace);
    }
    const socket = await this.#tunnel(signal);
    trace.phase = "handshake";
    const { request } = await import("node:https");
    const secured = await startTls(socket, url, await tls());
    // Whoever waits hears of it from the request.
    secured.on("error", () => undefined);
    secured.once("secureConnect", () => {
      trace.phase = "sent";
    });
    signal.addEventListener("abort", () => secured.destroy(), { once: true });
    // An agent, also none at all, would make a connection of its own.
    const options = { host: hostOf(url), port: portOf(url), method, path: sent.path, headers, signal };
    const reply = await answerTo(request({ ...options, createConnection: () => secured }), body, trace);
    reply.body.once("close", () => secured.destroy());
    return reply;
  }

  close(): void {
    // Each request has a connection of its own.
  }

  async #toProxy({ headers, ...asked }: RequestOptions): Promise<ClientRequest> {
    const { username, password, protocol } = this.#proxy;
    const { request } = protocol === "https:" ? await import("node:https") : await import("node:http");
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return request({
      host: hostOf(this.#proxy),
      port: portOf(this.#proxy),
      agent: false,
      ...asked,
      headers: {
        ...headers,
        ...(username !== "" && { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` }),
      },
    });
  }

  async #tunnel(signal: AbortSignal): Promise<Duplex> {
    const { url } = this.#target;
    const to = `${url.hostname}:${portOf(url)}`;
    const asking = await this.#toProxy({ method: "CONNECT", path: to, headers: { host: to }, signal });
    const { host } = this.#proxy;
    return await new Promise((resolve, reject) => {
      asking.once("connect", ({ statusCode }: IncomingMessage, socket: Duplex) => {
        if (statusCode === 200) return resolve(socket);
        socket.destroy();
        reject(
          statusCode === WANTS_PASSWORD
            ? new HttpProxyTrouble(host, "does not accept the name and the password", { lasting: true })
            : new Error(`the proxy ${host} answered ${statusCode} when asked for ${to}`),
        );
      });
      asking.once("response", (reply: IncomingMessage) => {
        reply.destroy();
        reject(new HttpProxyTrouble(host, "makes no connections", { lasting: true }));
      });
      asking.once("error", (cause) => reject(new HttpProxyTrouble(host, "cannot be reached", { cause })));
      asking.end();
    });
  }
}

function answerTo(outgoing: ClientRequest, body: OutgoingRequest["body"], trace: Trace): Promise<WireReply> {
  return new Promise((resolve, reject) => {
    outgoing.once("response", (response) => {
      trace.phase = "answering";
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response });
    });
    outgoing.on("error", reject);
    pour(body, outgoing).catch((error: unknown) => {
      outgoing.destroy();
      reject(error as Error);
    });
  });
}
