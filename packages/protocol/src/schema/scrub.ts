import { REDACTED } from "./redact.ts";

/** Takes out of a text what may not be shown. */
export type Scrub = (text: string) => string;

/** Shorter texts could be anybody's. */
const LEAST = 4;
const LEAST_LINE = 16;
/** A line longer than this is passed on in parts. */
const LONGEST_LINE = 64 * 1024;

/** The texts of a value that its redacted form does not show. */
export function hiddenFrom(whole: unknown, redacted: unknown): readonly string[] {
  const found = new Set<string>();
  const open: (readonly [unknown, unknown])[] = [[whole, redacted]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [value, shown] = pair;
    if (typeof value === "string") {
      if (value !== shown && value.length >= LEAST) found.add(value);
    } else if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        const same = typeof shown === "object" && shown !== null && Object.hasOwn(shown, key);
        open.push([inner, same ? (shown as Record<string, unknown>)[key] : REDACTED]);
      }
    }
  }
  return [...found];
}

/** Takes these texts out of others, as they stand and as JSON and URLs spell them. Many have no text to be taken out of. */
export function scrubber(secrets: readonly string[] | (() => readonly string[])): Scrub {
  let all: readonly string[] | undefined;
  return (text) => {
    if (text === "") return text;
    all ??= allSpellings(typeof secrets === "function" ? secrets() : secrets);
    return all.reduce((clean, one) => clean.replaceAll(one, REDACTED), text);
  };
}

/** Longer ones first: one secret may be part of another. */
const allSpellings = (secrets: readonly string[]): readonly string[] =>
  [...new Set(secrets.flatMap(linesOf).flatMap(spellings))].sort((a, b) => b.length - a.length);

/**
 * Returns a secret and its lines: printed objects show a private key line by line, and tools quote the line that
 * failed.
 */
const linesOf = (secret: string): readonly string[] =>
  secret.includes("\n")
    ? [secret, ...secret.split("\n").filter((line) => line.length >= LEAST_LINE && !line.startsWith("-----"))]
    : [secret];

function spellings(secret: string): readonly string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inUrl = encodeURIComponent(secret.replace(/\p{Surrogate}/gu, "\ufffd"));
  return [secret, inJson, JSON.stringify(inJson).slice(1, -1), inUrl];
}

/** Passes lines on once they are whole, so that no secret slips through in two halves. */
export class ScrubbedLines {
  readonly #secrets: readonly string[];
  readonly #scrub: Scrub;
  #longest: number | undefined;
  readonly #write: (text: string) => void;
  #rest = "";

  constructor(secrets: readonly string[], write: (text: string) => void) {
    this.#secrets = secrets;
    this.#scrub = scrubber(secrets);
    this.#write = write;
  }

  add(text: string): void {
    this.#rest += text;
    if (text.includes("\n")) this.#take(this.#rest.lastIndexOf("\n") + 1);
    if (this.#rest.length <= LONGEST_LINE) return;
    this.#longest ??= allSpellings(this.#secrets)[0]?.length ?? 0;
    if (this.#rest.length <= LONGEST_LINE + this.#longest) return;
    // What is kept back is long enough to hold the beginning of a secret.
    this.#rest = this.#scrub(this.#rest);
    this.#take(Math.max(0, this.#rest.length - this.#longest));
  }

  end(): void {
    if (this.#rest !== "") this.add("\n");
  }

  #take(end: number): void {
    const text = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end);
    if (text !== "") this.#write(this.#scrub(text));
  }
}

/** Bounded repeats: the text may be of any length and anybody's. */
const USER_INFO = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"'<>]*@/gi;
const SIGNED = /([?&][\w-]{0,40}(?:signature|token|password|secret|credential|sig|key)=)[^&\s"'#<>]+/gi;

/** Takes credentials out of the URLs in a text. The author of the text keeps other secrets out. */
export function scrubUrls(text: string): string {
  if (!text.includes("://")) return text;
  return text.replace(USER_INFO, `$1${REDACTED}@`).replace(SIGNED, `$1${REDACTED}`);
}
