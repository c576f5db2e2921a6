import { check } from "@slipway/protocol/schema/check";
import * as v from "valibot";

/**
 * A backup is a tar, gzipped, and where a passphrase was given encrypted as a whole. Its last entry is the manifest:
 * what a file does not list, or lists otherwise, is no backup.
 */
export const FORMAT = 1;
export const MANIFEST = "manifest.json";
/** `database/TABLE/000001.json`: rows in the order of the columns, each value as the database prints it. */
export const DATABASE = "database/";
/** Below it is what the state directory has, database and uploads aside. */
export const STATE = "state/";
/** Folder for files beside the state directory: what `slipway up` remembers, and the configuration. */
export const BESIDE = "beside/";

const file = v.strictObject({
  path: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
  mode: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0o777)),
  size: v.pipe(v.number(), v.integer(), v.minValue(0)),
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
});
export type FileEntry = Readonly<v.InferOutput<typeof file>>;

const manifest = v.strictObject({
  format: v.pipe(v.number(), v.integer()),
  /** Id of this one backup. */
  id: v.pipe(v.string(), v.uuid()),
  /** Time at which the database was read. */
  taken_at: v.pipe(v.string(), v.isoTimestamp()),
  /** Version of the program that took the backup. */
  version: v.string(),
  /** Last migration of the backed-up database. */
  migration: v.pipe(v.number(), v.integer(), v.minValue(1)),
  director: v.strictObject({ uuid: v.string() }),
  tables: v.array(v.strictObject({ name: v.string(), rows: v.number() })),
  sequences: v.record(v.string(), v.pipe(v.string(), v.regex(/^\d{1,18}$/))),
  directories: v.array(v.strictObject({ path: v.string(), mode: v.number() })),
  files: v.array(file),
});
export type Manifest = Readonly<v.InferOutput<typeof manifest>>;

/** Returns the manifest, or what is wrong with it. */
export function manifestOf(document: unknown): Manifest | string {
  const format = (document as { format?: unknown } | null)?.format;
  if (typeof format === "number" && format > FORMAT)
    return `it has the format ${format}, of a later version of slipway`;
  const checked = check(manifest, document, "manifest");
  return checked.ok ? checked.value : checked.problems.join("; ");
}

const rows = v.strictObject({
  columns: v.array(v.string()),
  rows: v.array(v.array(v.nullable(v.string()))),
});
export type Rows = Readonly<v.InferOutput<typeof rows>>;

export function rowsOf(document: unknown): Rows {
  const checked = check(rows, document, "rows");
  // Its digest was right: it was written so.
  if (!checked.ok) throw new Error(`bug: rows of a backup: ${checked.problems.join("; ")}`);
  return checked.value;
}
