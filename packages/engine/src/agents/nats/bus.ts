import type { Clock } from "@slipway/kernel/clock";
import { withDeadline } from "@slipway/kernel/deadline";
import { messageTrail } from "@slipway/kernel/errors";
import { dial, type NatsCredentials, type NatsServer, readNatsUrl } from "@slipway/kernel/nats/dial";
import { firstOf, type Link, linkOf } from "@slipway/kernel/nats/link";
import type { Random } from "@slipway/kernel/random";
import { sharedAbort } from "@slipway/kernel/shared-abort";
import { agentSubject, isSubjectToken, replySubject } from "@slipway/protocol/agent/subjects";
import { NotASubject } from "./errors.ts";
import { type BusReply, Waiters } from "./waiters.ts";

export interface BusOptions {
  /** `nats://host:port`; all are servers of one bus. */
  readonly urls: readonly string[];
  /** Returns the Director's certificate and the CA it trusts; called for every connection. */
  readonly credentials: () => Promise<NatsCredentials>;
  readonly clock: Clock;
  readonly random: Random;
  readonly warn: (line: string) => void;
}

export interface BusRequest {
  readonly agentId: string;
  /** The text of the message, which names the subject of its answer. */
  readonly body: (replyTo: string) => string;
  readonly withinMs: number;
  readonly signal: AbortSignal | undefined;
  /** Asking once more does no harm: a lost connection ends the waiting, so that it can be asked again. */
  readonly harmless: boolean;
}

/** Receives the messages of a subject. Must not throw. */
export type Listener = (subject: string, data: Uint8Array) => void;

/** A server that does not confirm in this time is as good as gone. */
const CONFIRM_MS = 5_000;
/** Messages that wait for a connection; older ones go. */
const MOST_UNSENT = 100;
const LONGEST_PAUSE_MS = 2_000;
/** NATS status "No responders": the subject has no subscriber. */
const NOBODY = 503;

/**
 * The Director's one connection to NATS, made when first needed and again whenever it is lost. Each process has its own inbox;
 * the last part of a reply's subject identifies the request, as upstream does.
 */
export class NatsBus {
  readonly description: string;
  readonly #options: BusOptions;
  readonly #servers: readonly NatsServer[];
  readonly #inbox: string;
  readonly #waiters = new Waiters();
  readonly #closed = sharedAbort();
  #link: Link | undefined;
  /** Aborted, and replaced, when a connection is there. */
  #arrival = sharedAbort();
  #loop: Promise<void> | undefined;
  #connections = 0;
  readonly #listeners: { readonly subject: string; readonly take: Listener }[] = [];
  readonly #unsent: { readonly subject: string; readonly text: string }[] = [];
  #probed: Link | undefined;
  #unconnectedBecause = "it was not tried yet";

  constructor(options: BusOptions) {
    this.#options = options;
    this.#servers = options.urls.map(readNatsUrl);
    this.#inbox = options.random.uuid();
    this.description = this.#servers.map(({ name }) => name).join(", ");
  }

  /** Sends a request and returns the reply, or why there was none. Rejects with the signal's reason. */
  async request(request: BusRequest): Promise<BusReply> {
    const { agentId, withinMs, signal } = request;
    if (!isSubjectToken(agentId)) throw NotASubject({ agentId });
    const { clock } = this.#options;
    const started = clock.monotonic();
    const link = await this.#connected(withinMs, signal);
    if (link === undefined) return { kind: "unconnected", why: this.#unconnectedBecause };
    const left = Math.max(1, withinMs - (clock.monotonic() - started));
    return await this.#exchange(link, request, left);
  }

  /** Why there is no connection, after so long at most; undefined: there is one. */
  async whyUnconnected(withinMs: number): Promise<string | undefined> {
    return (await this.#connected(withinMs, undefined)) === undefined ? this.#unconnectedBecause : undefined;
  }

  get connected(): boolean {
    return this.#link?.gone.aborted === false;
  }

  /** How many there have been: who looks now and then learns that one was lost meanwhile. */
  get connections(): number {
    return this.#connections;
  }

  /** From now on, over every connection. What the server does not let us hear is said, and does without. */
  listen(subjects: readonly string[], take: Listener): void {
    const added = subjects.map((subject) => ({ subject, take }));
    this.#listeners.push(...added);
    this.#loop ??= this.#keepConnected();
    if (this.#link !== undefined) this.#hear(this.#link, added);
  }

  /** Publishes a message without waiting. Never fails; messages that cannot be sent for long are dropped. */
  publish(subject: string, text: string): void {
    if (this.#closed.signal.aborted) return;
    this.#unsent.push({ subject, text });
    if (this.#unsent.length > MOST_UNSENT) this.#unsent.shift();
    this.#loop ??= this.#keepConnected();
    this.#sendUnsent();
  }

  /** Ends the connection; the next request, or the loop, makes another one with the credentials of then. */
  async reconnect(): Promise<void> {
    await this.#link?.connection.close();
  }

  async close(): Promise<void> {
    this.#closed.abort(new Error("the Director stops"));
    this.#waiters.endAll({ kind: "unconnected", why: "the Director stops" });
    await this.#link?.connection.close();
    await this.#loop;
  }

  async #exchange(link: Link, request: BusRequest, withinMs: number): Promise<BusReply> {
    const { agentId, body, harmless, signal } = request;
    const requestId = this.#options.random.uuid();
    const reply = replySubject(this.#inbox, agentId, requestId);
    const text = body(reply);
    const bytes = Buffer.byteLength(text);
    const limit = link.connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
    if (bytes > limit) return { kind: "too-large", bytes, limit };
    const answer = this.#waiters.wait(
      { requestId, agentId, withinMs, harmless, signal },
      this.#options.clock,
    );
    // With a reply subject below ours, the server reports a missing subscriber. Agents take the reply subject from the message.
    if (!link.connection.isClosed()) link.connection.publish(agentSubject(agentId), text, { reply });
    else this.#waiters.end(requestId, { kind: "unconnected", why: "the connection was lost" });
    const outcome = await answer;
    if (outcome.kind === "late") void this.#probe(link);
    return outcome;
  }

  /** Checks whether the server hangs or only the agent, so that no agent is blamed for a dead connection. */
  async #probe(link: Link): Promise<void> {
    if (this.#probed === link || link.gone.aborted) return;
    this.#probed = link;
    try {
      await this.#confirmed(link);
    } catch {
      await link.connection.close().catch(() => undefined);
    } finally {
      this.#probed = undefined;
    }
  }

  #confirmed({ connection, gone }: Link): Promise<void> {
    const { clock } = this.#options;
    return withDeadline("confirmation by NATS", CONFIRM_MS, clock, gone, () => connection.flush());
  }

  #sendUnsent(): void {
    if (!this.connected || this.#link === undefined) return;
    for (const { subject, text } of this.#unsent.splice(0))
      try {
        this.#link.connection.publish(subject, text);
      } catch (error) {
        this.#options.warn(`a message to ${subject} was not sent over NATS: ${messageTrail(error)}`);
      }
  }

  #hear(
    { connection, gone }: Link,
    listeners: readonly { readonly subject: string; readonly take: Listener }[],
  ): void {
    if (gone.aborted) return;
    for (const { subject, take } of listeners)
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (error === null) take(message.subject, message.data);
          else this.#options.warn(`NATS does not let the Director listen to ${subject}: ${error.message}`);
        },
      });
  }

  /** The connection there is, or the one that comes within the time. */
  async #connected(withinMs: number, signal: AbortSignal | undefined): Promise<Link | undefined> {
    signal?.throwIfAborted();
    this.#loop ??= this.#keepConnected();
    const usable = () => (this.#link?.gone.aborted === false ? this.#link : undefined);
    if (usable() !== undefined || this.#closed.signal.aborted) return usable();
    const late = new AbortController();
    const cancel = this.#options.clock.after(withinMs, () => late.abort());
    try {
      const arrived = this.#arrival.signal;
      await firstOf(arrived, late.signal, this.#closed.signal, ...(signal === undefined ? [] : [signal]));
    } finally {
      cancel();
    }
    signal?.throwIfAborted();
    return usable();
  }

  async #keepConnected(): Promise<void> {
    const { clock, random, warn } = this.#options;
    const { signal } = this.#closed;
    let told = "";
    for (let turn = 0, failures = 0; !signal.aborted; turn++) {
      const server = this.#servers[turn % this.#servers.length] as NatsServer;
      try {
        const link = await this.#connect(server);
        if (signal.aborted) return await link.connection.close();
        if (told !== "") warn(`connected to NATS at ${server.name} again`);
        told = "";
        failures = 0;
        this.#link = link;
        this.#connections += 1;
        this.#hear(link, this.#listeners);
        this.#arrived();
        this.#sendUnsent();
        await firstOf(link.gone, signal);
        if (signal.aborted) return;
        this.#unconnectedBecause = "the connection was lost";
        told = `the connection to NATS at ${server.name} was lost`;
        warn(`${told}; it is made again`);
        this.#waiters.connectionLost();
      } catch (error) {
        this.#unconnectedBecause = messageTrail(error);
        const why = `no connection to NATS at ${server.name}: ${this.#unconnectedBecause}`;
        if (why !== told && !signal.aborted) warn(`${why}; it is tried again`);
        told = why;
        failures += 1;
      }
      const most = Math.min(LONGEST_PAUSE_MS, 250 * 2 ** failures);
      await clock.sleep(most / 2 + (most / 2) * random.fraction(), signal).catch(() => undefined);
    }
  }

  #arrived(): void {
    const before = this.#arrival;
    this.#arrival = sharedAbort();
    before.abort();
  }

  async #connect(server: NatsServer): Promise<Link> {
    const { clock, credentials } = this.#options;
    const connection = await dial(server, await credentials(), "director", clock);
    const link = linkOf(connection);
    this.#watch(link).catch(() => undefined);
    let refused: Error | undefined;
    connection.subscribe(`director.${this.#inbox}.>`, {
      callback: (error, message) => {
        if (error === null) {
          const nobody = message.headers?.code === NOBODY && message.data.length === 0;
          this.#waiters.reply(message.subject, nobody ? { kind: "nobody" } : message.data);
          return;
        }
        refused = error;
        connection.close().catch(() => undefined);
      },
    });
    try {
      await this.#confirmed(link);
    } catch (error) {
      await connection.close();
      throw refused ?? error;
    }
    return link;
  }

  /** Passes a subject that the server does not allow to the request that used it, as its answer. */
  async #watch({ connection }: Link): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type !== "error") continue;
      const { message } = status.error;
      this.#options.warn(`NATS: ${message}`);
      const subject = /permissions violation for publish to "?agent\.([^\s"]+)/i.exec(message)?.[1];
      if (subject !== undefined) this.#waiters.forbidden(subject);
    }
  }
}
