import { messageTrail } from "@slipway/kernel/errors";
import type { Log } from "../log.ts";
import { NoMbus } from "../settings/errors.ts";
import type { Credentials, Handler, Topic, Transport } from "../transports/transport.ts";

/** Where and how callers reach the agent. */
export interface Address {
  readonly urls: readonly string[];
  readonly credentials: Credentials;
  readonly clientCa: string | undefined;
  readonly agentId: string;
}

export interface ActiveTransportOptions {
  readonly makeTransport: (address: Address) => Promise<Transport>;
  readonly handler: Handler;
  readonly log: Log;
  /** Told when a transport that was to come up by itself never will. */
  readonly onFailure: (error: unknown) => void;
}

/** The one transport in use. Settings may name another while the agent starts; then it moves there. */
export class ActiveTransport {
  readonly #options: ActiveTransportOptions;
  #transport: Transport | undefined;
  #address: string | undefined;

  constructor(options: ActiveTransportOptions) {
    this.#options = options;
  }

  /** Nothing happens when it is open there already. */
  async open(address: Address): Promise<void> {
    if (address.urls.length === 0) throw NoMbus({});
    const wanted = JSON.stringify(address);
    if (this.#address === wanted) return;
    await this.close();
    const transport = await this.#options.makeTransport(address);
    this.#transport = transport;
    const started = transport.start(this.#options.handler);
    // A server listens at once or never; a client may have to wait for networks that are not up yet.
    if (address.urls[0]?.startsWith("https:")) await started;
    else started.catch((error: unknown) => this.#options.onFailure(error));
    this.#address = wanted;
    this.#options.log.info(`reachable by ${transport.description}`);
  }

  async publish(topic: Topic, payload: unknown): Promise<void> {
    await this.#transport?.publish(topic, payload);
  }

  async close(): Promise<void> {
    const open = this.#transport;
    this.#transport = undefined;
    this.#address = undefined;
    await open?.close().catch((error: unknown) => {
      this.#options.log.warn(`closing ${open.description}: ${messageTrail(error)}`);
    });
  }
}
