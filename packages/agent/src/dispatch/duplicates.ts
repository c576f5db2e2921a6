import { createHash } from "node:crypto";
import type { HandledRequest } from "../transports/transport.ts";

/** Enough for minutes of a busy Director; a copy arrives within seconds or not at all. */
const MOST_ENTRIES = 1024;
const MOST_BYTES = 4 << 20;
/** Only reads answer that much, and they may be answered again. */
const LARGEST_REPLY = 64 << 10;

/**
 * A reply subject made for one request: `director.<process>.<agent>.<request>`. Only such a request can be told from a
 * legitimate repetition: the CLI puts its director's id into `reply_to` of everything it sends, and its second `ping`,
 * `get_task` or `mount_disk` is meant as a second one.
 */
const UNIQUE_REPLY = /^director\.[^\s.*>]+\.[^\s.*>]+\.[^\s.*>]+$/;

interface RememberedReply {
  readonly reply: Promise<HandledRequest>;
  bytes: number;
}

/**
 * Recognises a request that arrives twice (a caller that retries, two connections during a rotation): the same body,
 * with a reply subject of its own. The second gets the reply of the first, also while that one still runs, and
 * nothing is run again.
 */
export class Duplicates {
  readonly #entries = new Map<string, RememberedReply>();
  #bytes = 0;

  async once(
    replyTo: string | undefined,
    body: string,
    handle: () => Promise<HandledRequest>,
  ): Promise<HandledRequest> {
    if (replyTo === undefined || !UNIQUE_REPLY.test(replyTo)) return await handle();
    // The body holds the reply subject as well.
    const key = createHash("sha256").update(body).digest("base64");
    const known = this.#entries.get(key);
    if (known !== undefined) {
      const handled = await known.reply;
      return handled.kind === "reply" ? { ...handled, repeated: true } : handled;
    }
    const reply = handle();
    const entry: RememberedReply = { reply, bytes: 0 };
    this.#entries.set(key, entry);
    try {
      this.#settled(key, entry, await reply);
    } catch (error) {
      this.#entries.delete(key);
      throw error;
    }
    return await reply;
  }

  #settled(key: string, entry: RememberedReply, handled: HandledRequest): void {
    entry.bytes = handled.kind === "reply" ? (JSON.stringify(handled.reply)?.length ?? 0) : 0;
    if (entry.bytes > LARGEST_REPLY) {
      this.#entries.delete(key);
      return;
    }
    this.#bytes += entry.bytes;
    // In the order of arrival. What still runs has no size yet and goes only when there are too many.
    for (const [oldest, { bytes }] of this.#entries) {
      if (this.#entries.size <= MOST_ENTRIES && this.#bytes <= MOST_BYTES) break;
      if (bytes === 0 || oldest === key) continue;
      this.#entries.delete(oldest);
      this.#bytes -= bytes;
    }
  }
}
