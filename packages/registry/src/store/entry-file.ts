import { createHash } from "node:crypto";

/** Entry of one id, in a file of its own: a checksum, a space, and JSON. */
export interface StoredEntry {
  readonly id: string;
  readonly settings: string;
}

const CHECKSUM = 16;
const digest = (text: string | Buffer): string => createHash("sha256").update(text).digest("hex");

/** An id may be longer than a file's name, and have any characters. */
export const fileOf = (id: string): string => `${digest(id)}.entry`;
export const ENTRY_FILE = /^[0-9a-f]{64}\.entry$/;
/** Matches files that a crash left half written. */
export const LEFTOVER = /^\.[0-9a-f]{64}\.entry\.[0-9a-f]+\.tmp$/;

export function entryText({ id, settings }: StoredEntry): string {
  const json = JSON.stringify({ id, settings });
  return `${digest(json).slice(0, CHECKSUM)} ${json}\n`;
}

/** Returns the entry of a file, or the reason why it cannot be read. */
export function readEntry(name: string, bytes: Buffer): StoredEntry | string {
  const value = checked(bytes.subarray(0, -1));
  if (typeof value === "string") return value;
  const { id, settings } = (value.json ?? {}) as Partial<Record<keyof StoredEntry, unknown>>;
  if (typeof id !== "string" || typeof settings !== "string") return "it is not an entry";
  return fileOf(id) === name ? { id, settings } : "it has the name of another entry";
}

/** The JSON behind a checksum, or what is wrong with it. */
export function checked(bytes: Buffer): { readonly json: unknown } | string {
  const json = bytes.subarray(CHECKSUM + 1);
  const start = bytes.toString("latin1", 0, CHECKSUM + 1);
  if (start !== `${digest(json).slice(0, CHECKSUM)} `) return "the checksum does not fit";
  try {
    return { json: JSON.parse(json.toString("utf8")) };
  } catch {
    return "it is not JSON";
  }
}
