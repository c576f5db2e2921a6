import { connect, type NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "@slipway/kernel/clock";
import { withDeadline } from "@slipway/kernel/deadline";
import type { AgentReply } from "@slipway/protocol/agent/envelope";
import { agentSubject, replySubject } from "@slipway/protocol/agent/subjects";
import { ANSWER_MS, Messages } from "./messages.ts";

/** PEM texts. */
export interface PemPair {
  readonly cert: string;
  readonly key: string;
}

export interface BusClientOptions {
  /** `nats://host:port`. */
  readonly url: string;
  readonly ca: string;
  readonly director: PemPair;
  /** Without it nothing is received of what agents send to the Health Monitor. */
  readonly healthMonitor: PemPair | undefined;
  readonly agentId: string;
  readonly clock: Clock;
  readonly uuid: () => string;
}

/** Message of an agent to the Health Monitor, with the time of its arrival. */
export interface MonitorMessage {
  readonly subject: string;
  readonly text: string;
  readonly at: number;
}

/** An agent over NATS, as a Director talks to it: one subscription for all answers of this process. */
export class BusClient extends Messages {
  readonly agentId: string;
  readonly monitorMessages: MonitorMessage[] = [];
  readonly hasHealthMonitor: boolean;
  /** When the agent first answered, and whether it had to be waited for: then its first messages were received. */
  arrival: { readonly at: number; readonly waited: boolean } | undefined;
  readonly #options: BusClientOptions;
  #connections: readonly NatsConnection[] = [];
  readonly #uuid: () => string;
  readonly #process: string;
  readonly #waiting = new Map<string, (text: string) => void>();
  #answers = 0;

  private constructor(options: BusClientOptions) {
    super(options.clock);
    this.agentId = options.agentId;
    this.hasHealthMonitor = options.healthMonitor !== undefined;
    this.#options = options;
    this.#uuid = options.uuid;
    this.#process = options.uuid();
  }

  static async open(options: BusClientOptions): Promise<BusClient> {
    const client = new BusClient(options);
    await client.dial();
    return client;
  }

  /** Connects, also once more: to the server that is there now. */
  async dial(): Promise<void> {
    await this.close();
    const { url, ca, director, healthMonitor } = this.#options;
    const to = (pair: PemPair, name: string) =>
      connect({ servers: url.replace(/^nats:\/\//, ""), name, tls: { ...pair, ca }, reconnect: false });
    const asDirector = await to(director, "conformance");
    this.#connections = [asDirector];
    const asMonitor =
      healthMonitor === undefined ? undefined : await to(healthMonitor, "conformance, as health monitor");
    if (asMonitor !== undefined) this.#connections = [asDirector, asMonitor];
    await this.#listen(asDirector, asMonitor);
  }

  async #listen(director: NatsConnection, monitor: NatsConnection | undefined): Promise<void> {
    director.subscribe(`director.${this.#process}.>`, {
      callback: (_, message) => {
        this.#answers++;
        this.#waiting.get(message.subject)?.(message.string());
      },
    });
    // One by one: the permissions of a Health Monitor allow no more.
    for (const topic of ["heartbeat", "alert", "shutdown"])
      monitor?.subscribe(`hm.agent.${topic}.*`, {
        callback: (error, message) => {
          if (error !== null || !message.subject.endsWith(`.${this.agentId}`)) return;
          this.monitorMessages.push({
            subject: message.subject,
            text: message.string(),
            at: this.clock.monotonic(),
          });
        },
      });
    for (const connection of this.#connections) await connection.flush();
  }

  protected async deliver(method: string, args: readonly unknown[], protocol: number): Promise<AgentReply> {
    return await this.#ask(method, args, protocol, ANSWER_MS);
  }

  async #ask(method: string, args: readonly unknown[], protocol: number, ms: number): Promise<AgentReply> {
    const subject = replySubject(this.#process, this.agentId, this.#uuid());
    const body = JSON.stringify({ protocol, method, arguments: args, reply_to: subject });
    const replied = new Promise<string>((resolve) => this.#waiting.set(subject, resolve));
    try {
      this.publish(body);
      const text = await withDeadline(`${method} over NATS`, ms, this.clock, undefined, () => replied);
      return JSON.parse(text) as AgentReply;
    } finally {
      this.#waiting.delete(subject);
    }
  }

  /** Any body, to the subject of the agent. */
  publish(body: string): void {
    this.#connections[0]?.publish(agentSubject(this.agentId), body);
  }

  /** How many answers came, asked for or not. */
  get answers(): number {
    return this.#answers;
  }

  /** The largest message the server takes. */
  get limit(): number {
    return this.#connections[0]?.info?.max_payload ?? 1 << 20;
  }

  /** Waits until the agent answers; it may be started after this program. */
  async arrived(ms: number): Promise<void> {
    const giveUp = this.clock.monotonic() + ms;
    for (let tries = 0; ; tries++) {
      try {
        const reply = await this.#ask("ping", [], 3, 500);
        if ("value" in reply && reply.value === "pong") {
          this.arrival = { at: this.clock.monotonic(), waited: tries > 0 };
          return;
        }
      } catch (error) {
        if (this.clock.monotonic() > giveUp) throw error;
      }
      await this.clock.sleep(50);
    }
  }

  /** The first message to the Health Monitor of this topic since then. */
  async monitorMessage(topic: string, since: number, ms: number): Promise<MonitorMessage> {
    const giveUp = this.clock.monotonic() + ms;
    for (;;) {
      const found = this.monitorMessages.find(
        ({ subject, at }) => subject.startsWith(`hm.agent.${topic}.`) && at >= since,
      );
      if (found !== undefined) return found;
      if (this.clock.monotonic() > giveUp) throw new Error(`no ${topic} within ${ms / 1000} s`);
      await this.clock.sleep(20);
    }
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) await connection.close();
    this.#connections = [];
  }
}
