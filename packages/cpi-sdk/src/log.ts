import { type Clock, isoTime } from "@slipway/kernel/clock";

/** Most of what a log says matters at its beginning and its end. */
const HEAD_CHARS = 64 * 1024;
const TAIL_CHARS = 192 * 1024;

export type CpiLogLevel = "debug" | "info" | "warn" | "error";
export type Log = { readonly [K in CpiLogLevel]: (message: string) => void };

/** Keeps the head and the tail of a text of any length. */
export class BoundedText {
  #head = "";
  #tail: string[] = [];
  #tailLength = 0;
  #dropped = 0;

  add(text: string): void {
    const room = HEAD_CHARS - this.#head.length;
    const rest = room > 0 ? text.slice(room) : text;
    if (room > 0) this.#head += text.slice(0, room);
    if (rest === "") return;
    const kept = rest.slice(-TAIL_CHARS);
    this.#dropped += rest.length - kept.length;
    this.#tail.push(kept);
    this.#tailLength += kept.length;
    this.#trim();
  }

  #trim(): void {
    while (this.#tailLength > TAIL_CHARS) {
      const first = this.#tail[0] ?? "";
      const over = this.#tailLength - TAIL_CHARS;
      const cut = Math.min(over, first.length);
      if (cut === first.length) this.#tail.shift();
      else this.#tail[0] = first.slice(cut);
      this.#tailLength -= cut;
      this.#dropped += cut;
    }
  }

  toString(): string {
    const gap = this.#dropped > 0 ? `\n[${this.#dropped} characters left out]\n` : "";
    return wellFormed(this.#head + gap + this.#tail.join(""));
  }
}

/** A character cut in half is replaced: not every reader of JSON takes a lone surrogate. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, "\ufffd");

/** Returns a secret and its lines: printed objects show a private key line by line. */
const linesOf = (secret: string): readonly string[] =>
  secret.includes("\n") ? [secret, ...secret.split("\n").filter((line) => line.length >= 16)] : [secret];

/** A secret as it stands, and as it reads inside JSON, JSON inside JSON (user-data in a cloud's request) and URLs. */
function spellings(secret: string): readonly string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [secret, inJson, JSON.stringify(inJson).slice(1, -1), encodeURIComponent(wellFormed(secret))];
}

/** Removes known secrets from a text. Longer ones first: one secret may be part of another. */
export function scrubber(secrets: readonly string[]): (text: string) => string {
  const ordered = [...new Set(secrets.flatMap(linesOf).flatMap(spellings))].sort(
    (a, b) => b.length - a.length,
  );
  if (ordered.length === 0) return (text) => text;
  return (text) => ordered.reduce((scrubbed, one) => scrubbed.replaceAll(one, "<redacted>"), text);
}

/** Lines go to the stream while the call runs, and into the reply's `log`. */
export function makeLog(
  label: string,
  clock: Clock,
  scrub: (text: string) => string,
  sinks: readonly ((line: string) => void)[],
): Log {
  const at = (level: CpiLogLevel) => (message: string) => {
    const line = `${isoTime(clock)} ${level.toUpperCase()} ${label}: ${scrub(message)}\n`;
    for (const sink of sinks) sink(line);
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
