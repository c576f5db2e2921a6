import type { Clock } from "@slipway/kernel/clock";
import { withDeadline } from "@slipway/kernel/deadline";
import { messageTrail } from "@slipway/kernel/errors";
import type { Log } from "../log.ts";
import { NoMbus } from "../settings/errors.ts";
import type { AgentTopic, RequestHandler, Transport, TransportCredentials } from "../transports/transport.ts";

/** Address and credentials by which callers reach the agent. */
export interface ListenAddress {
  readonly urls: readonly string[];
  readonly credentials: TransportCredentials;
  readonly clientCa: string | undefined;
  readonly agentId: string;
}

export interface ActiveTransportOptions {
  readonly makeTransport: (address: ListenAddress) => Promise<Transport>;
  readonly handler: RequestHandler;
  readonly log: Log;
  readonly clock: Clock;
  /** Called when a transport that was to come up in the background never will. */
  readonly onFailure: (error: unknown) => void;
}

/** A server may learn of new credentials some seconds after the agent; until then the old ones are in use. */
const ROTATION_MS = 10_000;

const isSame = (one: ListenAddress | undefined, other: ListenAddress): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** The one transport in use. Settings may name another while the agent starts; then it moves there. */
export class ActiveTransport {
  readonly #options: ActiveTransportOptions;
  #transport: Transport | undefined;
  #address: ListenAddress | undefined;

  constructor(options: ActiveTransportOptions) {
    this.#options = options;
  }

  /** Nothing happens when it is open there already. */
  async open(address: ListenAddress): Promise<void> {
    if (address.urls.length === 0) throw NoMbus({});
    if (isSame(this.#address, address)) return;
    await this.close();
    const transport = await this.#options.makeTransport(address);
    this.#transport = transport;
    const started = transport.start(this.#options.handler);
    // A server listens at once or never; a client may have to wait for networks that are not up yet.
    if (address.urls[0]?.startsWith("https:")) await started;
    else started.catch((error: unknown) => this.#options.onFailure(error));
    this.#address = address;
    this.#options.log.info(`reachable by ${transport.description}`);
  }

  /** Changes the credentials only; false when more than that is another. */
  async rotate(address: ListenAddress): Promise<boolean> {
    const { clock, log } = this.#options;
    const [open, before] = [this.#transport, this.#address];
    if (open === undefined || before === undefined) return false;
    const { credentials, clientCa } = address;
    if (!isSame({ ...before, credentials, clientCa }, address)) return false;
    // Nor can a server that requires no client certificate begin to do so while it runs.
    if ((before.clientCa === undefined) !== (clientCa === undefined)) return false;
    if (isSame(before, address)) return true;
    const rotated = open.rotate(credentials, clientCa);
    this.#address = address;
    await withDeadline("new credentials", ROTATION_MS, clock, undefined, () => rotated).then(
      () => log.info(`reachable by ${open.description} under new credentials`),
      () => log.warn(`${open.description} does not take the new credentials yet; it is tried again`),
    );
    return true;
  }

  async publish(topic: AgentTopic, payload: unknown): Promise<void> {
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
