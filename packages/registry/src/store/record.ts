import { createHash } from "node:crypto";

/** The log of a registry: a first line that names the format, then one line per commit, checksum first. */
export const FIRST_LINE = "slipway-registry-log 1";

export type Change =
  | { readonly op: "put"; readonly id: string; readonly settings: string }
  | { readonly op: "delete"; readonly id: string };

const CHECKSUM = 16;
const checksum = (text: string | Buffer) =>
  createHash("sha256").update(text).digest("hex").slice(0, CHECKSUM);

/**
 * The changes that become durable together are one line with one checksum. So what a crash can leave half done, in
 * whatever order the disk wrote its blocks, is always exactly the last line.
 *
 * `changes` are JSON texts; JSON never contains a line feed.
 */
export function commitLine(changes: readonly string[]): Buffer {
  const json = `[${changes.join(",")}]`;
  return Buffer.from(`${checksum(json)} ${json}\n`);
}

/** The changes of a line without its line feed, or why it cannot be read. */
export function readCommit(line: Buffer): readonly Change[] | string {
  const json = line.subarray(CHECKSUM + 1);
  if (line.toString("latin1", 0, CHECKSUM + 1) !== `${checksum(json)} `) return "the checksum does not fit";
  const value = parsed(json.toString("utf8"));
  return Array.isArray(value) && value.every(isChange) ? value : "it is not a list of changes";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isChange(value: unknown): value is Change {
  if (typeof value !== "object" || value === null) return false;
  const { op, id, settings } = value as Partial<Record<"op" | "id" | "settings", unknown>>;
  return typeof id === "string" && (op === "put" ? typeof settings === "string" : op === "delete");
}
