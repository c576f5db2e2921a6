import type { AwakeTime } from "./awake.ts";

/** Channel on which agents send without being asked. */
export interface Channel {
  readonly connected: boolean;
  /** Number of connections so far. */
  readonly connections: number;
  listen(subjects: readonly string[], take: (subject: string, data: Uint8Array) => void): void;
}

export interface Connection {
  readonly up: boolean;
  /** `AwakeTime`: so long already. */
  readonly since: number;
}

/** Notes since when agents can be heard. An agent that cannot be heard is not silent. */
export class Hearing {
  readonly #channel: Pick<Channel, "connected" | "connections">;
  readonly #awake: Pick<AwakeTime, "now">;
  #connections: number;
  #last: Connection;

  constructor(channel: Pick<Channel, "connected" | "connections">, awake: Pick<AwakeTime, "now">) {
    this.#channel = channel;
    this.#awake = awake;
    this.#connections = channel.connections;
    this.#last = { up: channel.connected, since: awake.now() };
  }

  /** Returns the connection; to be called every second or so, too: a reconnect is noticed by the number of connections. */
  now(): Connection {
    const { connected: up, connections } = this.#channel;
    if (up !== this.#last.up || connections !== this.#connections)
      this.#last = { up, since: this.#awake.now() };
    this.#connections = connections;
    return this.#last;
  }
}

/** Reports whether the connection was lost at some time since then, so that an answer may have been lost. */
export const lostSince = ({ up, since }: Connection, then: number): boolean => !up || since > then;
