import type { Clock } from "@slipway/kernel/clock";
import { dialledWire, nodeWire } from "@slipway/kernel/http/node-wire";
import { isNamedIn, proxiesIn } from "@slipway/kernel/http/proxy";
import { proxiedWire } from "@slipway/kernel/http/proxy-wire";
import type { MakeWire } from "@slipway/kernel/http/wire";
import type { Random } from "@slipway/kernel/random";
import { dialSocks5, greetSocks5, type Socks5Proxy } from "@slipway/kernel/socks5";
import { proxyTrouble } from "./errors.ts";
import { openTunnel, type Tunnel } from "./jumpbox.ts";
import { type ProxyUrl, readProxyUrl } from "./proxy-url.ts";

const FROM = "BOSH_ALL_PROXY";

interface Around {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * The way that BOSH_ALL_PROXY names, or else the usual variables. A jumpbox is entered when it is first needed, and left with
 * the command.
 */
export class AllProxy {
  readonly #around: Around;
  readonly #tunnels = new Map<string, Promise<Tunnel>>();
  #closed = false;

  constructor(around: Around) {
    this.#around = around;
  }

  /** Returns the transport of requests; undefined: they go directly. */
  wire(): MakeWire | undefined {
    const url = this.#own();
    if (url === undefined) return this.#usual();
    const through = dialledWire(async (to, signal) => dialSocks5(await this.#socksOf(url), to, signal));
    // As upstream, a jumpbox is used for all requests.
    const direct = url.kind === "ssh" ? undefined : proxiesIn(this.#around.env).noProxy;
    return (target) => (direct !== undefined && isNamedIn(direct, target.url) ? nodeWire : through)(target);
  }

  /** Before anything is begun that needs it. */
  async check(signal: AbortSignal): Promise<void> {
    const url = this.#own();
    if (url === undefined) return;
    try {
      await greetSocks5(await this.#socksOf(url), signal);
    } catch (error) {
      throw proxyTrouble(error) ?? error;
    }
  }

  /** Returns any proxy as a SOCKS5 proxy. `from`: the setting that named it. */
  async socks(given: string, from: string): Promise<Socks5Proxy> {
    return await this.#socksOf(readProxyUrl(given, from));
  }

  close(): void {
    this.#closed = true;
    // One that could not be opened has nothing to close.
    for (const tunnel of this.#tunnels.values()) tunnel.then(({ close }) => close()).catch(() => undefined);
    this.#tunnels.clear();
  }

  /** The proxies that programs have in common. */
  #usual(): MakeWire | undefined {
    const settings = proxiesIn(this.#around.env);
    const some = settings.https !== undefined || settings.http !== undefined;
    return some ? proxiedWire(settings, nodeWire) : undefined;
  }

  #own(): ProxyUrl | undefined {
    const given = this.#around.env[FROM];
    return given === undefined || given === "" ? undefined : readProxyUrl(given, FROM);
  }

  async #socksOf(url: ProxyUrl): Promise<Socks5Proxy> {
    if (url.kind === "socks5") return url.proxy;
    const name = JSON.stringify(url.jumpbox);
    const tunnel = this.#tunnels.get(name) ?? this.#open(name, url);
    return { host: "127.0.0.1", port: (await tunnel).port };
  }

  #open(name: string, { jumpbox }: ProxyUrl & { readonly kind: "ssh" }): Promise<Tunnel> {
    const opening = openTunnel(jumpbox, this.#around);
    const forget = () => {
      if (this.#tunnels.get(name) === opening) this.#tunnels.delete(name);
    };
    this.#tunnels.set(name, opening);
    opening.then((tunnel) => {
      tunnel.onEnd(forget);
      if (this.#closed) tunnel.close();
    }, forget);
    return opening;
  }
}
