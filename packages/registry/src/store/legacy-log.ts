import { DamagedState, LogFormatUnknown } from "../errors.ts";
import { checked } from "./entry-file.ts";

const FIRST_LINE = "slipway-registry-log 1";

/**
 * The entries of a log as registries wrote it before each entry had a file: a first line that names the format, then one
 * line per commit, each with its checksum. A last line that cannot be read was never acknowledged: `torn`. One with
 * others behind it is an error, because nobody can say what it held.
 */
export function readOldLog(
  path: string,
  bytes: Buffer,
): { entries: ReadonlyMap<string, string>; torn: boolean } {
  const entries = new Map<string, string>();
  const lines = linesOf(bytes);
  if (lines[0]?.ended !== true || lines[0].bytes.toString("latin1") !== FIRST_LINE)
    throw LogFormatUnknown({ path });
  for (const [at, { bytes: line, ended }] of lines.entries()) {
    if (at === 0) continue;
    const commit = ended ? checked(line) : "it is incomplete";
    if (typeof commit === "string" || !Array.isArray(commit.json)) {
      if (at === lines.length - 1) return { entries, torn: true };
      const why = typeof commit === "string" ? commit : "it is not a list of changes";
      throw DamagedState({ where: `line ${at + 1} of ${path}`, why });
    }
    for (const { op, id, settings } of commit.json as readonly Record<"op" | "id" | "settings", string>[])
      if (op === "put") entries.set(id, settings);
      else entries.delete(id);
  }
  return { entries, torn: false };
}

function linesOf(bytes: Buffer): readonly { readonly bytes: Buffer; readonly ended: boolean }[] {
  const lines = [];
  for (let start = 0; start < bytes.length; ) {
    const feed = bytes.indexOf(0x0a, start);
    const end = feed < 0 ? bytes.length : feed;
    lines.push({ bytes: bytes.subarray(start, end), ended: feed >= 0 });
    start = end + 1;
  }
  return lines;
}
