import type { NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "@slipway/kernel/clock";
import { DeadlineExceeded, withDeadline } from "@slipway/kernel/deadline";
import { errorText, messageTrail } from "@slipway/kernel/errors";
import { dial, type NatsServer, readNatsUrl } from "@slipway/kernel/nats/dial";
import { firstOf, type Link, linkOf } from "@slipway/kernel/nats/link";
import type { Random } from "@slipway/kernel/random";
import { sharedAbort } from "@slipway/kernel/shared-abort";
import { fitForNats, LARGEST_NATS_REPLY } from "@slipway/protocol/agent/envelope";
import {
  agentSubject,
  alertSubject,
  heartbeatSubject,
  isSubjectToken,
  shutdownSubject,
} from "@slipway/protocol/agent/subjects";
import type { Log } from "../log.ts";
import { checkPair } from "./credentials.ts";
import { BusUrlInvalid, NotSent, RequestFailed, SubscriptionRefused, TransportClosed } from "./errors.ts";
import type { AgentTopic, RequestHandler, Transport, TransportCredentials } from "./transport.ts";

export interface NatsTransportOptions {
  /** `nats://host:port`; all are servers of one bus. */
  readonly urls: readonly string[];
  readonly credentials: TransportCredentials;
  readonly agentId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

const SUBJECTS: Readonly<Record<AgentTopic, (agentId: string) => string>> = {
  heartbeat: heartbeatSubject,
  alert: alertSubject,
  shutdown: shutdownSubject,
};

/** Upstream's: how often and how far apart a message is tried. */
const SEND_TRIES = 60;
const SEND_PAUSE_MS = 1_000;
/** A server that does not confirm in this time is as good as gone. */
const CONFIRM_MS = 5_000;
const CLOSE_MS = 5_000;
/** A connection that lasted this long counts as good: the pauses start over. */
const STABLE_MS = 10_000;

/** Upstream's 2 s times the attempt, at most 10 s, and up to half of it less, so that a fleet does not come as one. */
export function reconnectDelay(attempt: number, random: Random): number {
  const full = Math.min(10_000, 2_000 * attempt);
  return full / 2 + (full / 2) * random.fraction();
}

/** Returns true for a subject that this agent may answer to. The permissions of a real deployment allow no others. */
export function isReplySubject(subject: string, agentId: string): boolean {
  const [first, caller = "", agent, request = "", ...more] = subject.split(".");
  return (
    first === "director" &&
    agent === agentId &&
    more.length === 0 &&
    isSubjectToken(caller) &&
    isSubjectToken(request)
  );
}

export const natsTransport = (options: NatsTransportOptions): Transport => new Nats(options);

/**
 * The agent is a client of the bus. Messages are handed over in the order they come, each at once: which of them wait
 * for each other is the dispatcher's to say, so a slow one keeps neither `ping` nor `get_task` waiting.
 */
class Nats implements Transport {
  readonly description: string;
  readonly #options: NatsTransportOptions;
  readonly #servers: readonly NatsServer[];
  readonly #subject: string;
  readonly #underWay = new Set<Promise<void>>();
  /** Aborted at the very end: nothing is sent any more. */
  /** Every message that waits to be sent again listens. */
  readonly #ended = sharedAbort();
  /** Aborted, and replaced, when credentials change or the transport closes: whatever waits looks again. */
  #change = new AbortController();
  #credentials: TransportCredentials;
  #handler: RequestHandler | undefined;
  #current: Link | undefined;
  #closing = false;
  /** Callbacks that are called once the new credentials are in use. */
  readonly #rotated: (() => void)[] = [];
  #reconnectLoop: Promise<void> = Promise.resolve();

  constructor(options: NatsTransportOptions) {
    if (options.urls.length === 0) throw BusUrlInvalid({ why: "there is none" });
    if (!isSubjectToken(options.agentId))
      throw BusUrlInvalid({ why: "the agent id cannot be part of a subject" });
    checkPair(options.credentials);
    this.#options = options;
    this.#credentials = options.credentials;
    this.#servers = options.urls.map(readNatsUrl);
    this.#subject = agentSubject(options.agentId);
    this.description = `nats://${this.#servers.map((server) => server.name).join(",")}`;
  }

  /** A server that is down, or does not know the agent yet, only delays it. */
  start(handler: RequestHandler): Promise<void> {
    this.#handler = handler;
    return new Promise((resolve) => {
      this.#reconnectLoop = this.#keepConnected(resolve).finally(resolve);
    });
  }

  async publish(topic: AgentTopic, payload: unknown): Promise<void> {
    await this.#send(SUBJECTS[topic](this.#options.agentId), JSON.stringify(payload ?? null));
  }

  /** Reconnects. The old connection serves until the new one does. */
  rotate(credentials: TransportCredentials): Promise<void> {
    checkPair(credentials);
    this.#credentials = credentials;
    return new Promise((resolve) => {
      this.#rotated.push(resolve);
      this.#changed();
    });
  }

  async close(): Promise<void> {
    const { clock } = this.#options;
    this.#closing = true;
    this.#changed();
    for (const tell of this.#rotated.splice(0)) tell();
    // A connection that is just being made closes itself when it is there.
    const finished = () => Promise.allSettled([this.#reconnectLoop, ...this.#underWay]);
    await withDeadline("answers under way", CLOSE_MS, clock, undefined, finished).catch(() => undefined);
    this.#ended.abort(TransportClosed({ what: "not sent" }));
    await this.#current?.connection.close();
  }

  #changed(): void {
    const before = this.#change;
    this.#change = new AbortController();
    before.abort(new Error("something changed"));
  }

  async #keepConnected(connected: () => void): Promise<void> {
    const { clock, random, log } = this.#options;
    let attempt = 0;
    let told = "";
    for (let turn = 0; !this.#closing; turn++) {
      const server = this.#servers[turn % this.#servers.length] as NatsServer;
      const { signal } = this.#change;
      try {
        const link = await this.#connect(server);
        if (this.#closing) return await link.connection.close();
        const since = clock.monotonic();
        told = "";
        log.info(`connected to NATS at ${server.name}`);
        this.#retire(this.#current);
        this.#current = link;
        connected();
        if (!signal.aborted) for (const tell of this.#rotated.splice(0)) tell();
        await firstOf(link.gone, signal);
        if (signal.aborted) continue;
        log.warn(`the connection to NATS at ${server.name} was lost`);
        // A server that takes the agent and drops it at once is not hurried either.
        if (clock.monotonic() - since >= STABLE_MS) attempt = 0;
        await this.#pause(attempt === 0 ? 1_000 * random.fraction() : reconnectDelay(attempt, random));
        attempt++;
      } catch (error) {
        const why = `no connection to NATS at ${server.name}: ${messageTrail(error)}`;
        if (why !== told) log.warn(`${why}; it is tried again`);
        told = why;
        await this.#pause(reconnectDelay(++attempt, random));
      }
    }
  }

  /** Sleeps, but not past a change of credentials or the end. */
  async #pause(ms: number): Promise<void> {
    if (!this.#closing) await this.#options.clock.sleep(ms, this.#change.signal).catch(() => undefined);
  }

  async #connect(server: NatsServer): Promise<Link> {
    const { agentId, clock } = this.#options;
    const connection = await dial(server, this.#credentials, agentId, clock);
    const link = linkOf(connection);
    this.#watch(connection).catch(() => undefined);
    let refused: Error | undefined;
    connection.subscribe(this.#subject, {
      callback: (error, message) => {
        if (error === null) return this.#take(message.string());
        // Without its subscription the connection is of no use; permissions may come with the next one.
        refused = error;
        connection.close().catch(() => undefined);
      },
    });
    try {
      await this.#confirmed(link);
    } catch (error) {
      await connection.close();
      if (refused === undefined) throw error;
    }
    if (refused !== undefined) throw SubscriptionRefused({ subject: this.#subject }, { cause: refused });
    return link;
  }

  /** Logs complaints of the server for the operator, such as a subject that is not allowed. */
  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status())
      if (status.type === "error") this.#options.log.warn(`NATS: ${status.error.message}`);
  }

  /** The server has taken all that was sent. The library waits on, for ever, when the connection ends meanwhile. */
  #confirmed({ connection, gone }: Link): Promise<void> {
    const { clock } = this.#options;
    return withDeadline("confirmation by NATS", CONFIRM_MS, clock, gone, () => connection.flush());
  }

  /** Takes what is on its way, then goes. Answers leave by the new connection. */
  #retire(link: Link | undefined): void {
    if (link === undefined || link.gone.aborted) return;
    const { connection } = link;
    withDeadline("leaving NATS", CLOSE_MS, this.#options.clock, undefined, () => connection.drain())
      .catch(() => connection.close())
      .catch(() => undefined);
  }

  #take(body: string): void {
    if (this.#closing) return;
    const work = this.#answer(body)
      .catch((cause: unknown) => {
        this.#options.log.error(errorText(RequestFailed({ what: "a request over NATS" }, { cause })));
      })
      .finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  async #answer(body: string): Promise<void> {
    const { agentId, log } = this.#options;
    const handled = await this.#handler?.(body, "NATS");
    if (handled?.kind !== "reply" || handled.repeated) return;
    const { replyTo, reply } = handled;
    if (replyTo === undefined || !isReplySubject(replyTo, agentId)) {
      log.warn("a request over NATS names no place where this agent may answer; it gets no reply");
      return;
    }
    const limit = Math.min(
      LARGEST_NATS_REPLY,
      this.#current?.connection.info?.max_payload ?? LARGEST_NATS_REPLY,
    );
    await this.#send(replyTo, fitForNats(reply, limit));
  }

  /** Resolves when the server has it. After a lost connection it may get it twice, which its readers allow for. */
  async #send(subject: string, text: string): Promise<void> {
    const { clock } = this.#options;
    let cause: unknown;
    let tries = 0;
    while (tries++ < SEND_TRIES) {
      if (tries > 1) await clock.sleep(SEND_PAUSE_MS, this.#ended.signal);
      const link = this.#current;
      if (link === undefined || link.gone.aborted) continue;
      try {
        link.connection.publish(subject, text);
        return await this.#confirmed(link);
      } catch (error) {
        cause = error;
        if (link !== this.#current || link.gone.aborted || link.connection.isClosed()) continue;
        // What the server cannot take, it cannot take later.
        if (!DeadlineExceeded.is(error)) break;
        // Stale; the reconnect loop makes another one.
        await link.connection.close().catch(() => undefined);
      }
    }
    throw NotSent({ subject, tries: Math.min(tries, SEND_TRIES) }, { cause });
  }
}
