import { readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { Paths } from "../../../paths.ts";
import { MountTableUnreadable } from "../../disk-errors.ts";
import type { DiskMount } from "../../disks.ts";
import type { DeviceNumber } from "./device-nodes.ts";

/** One line of the mount table. */
export interface MountEntry extends DiskMount {
  readonly number: DeviceNumber;
  /** The directory of the file system that is seen at the target; `/` unless it is a bind mount. */
  readonly root: string;
  readonly type: string;
  /** Flags of this mount, not of its file system. */
  readonly options: readonly string[];
  /** True if a writable mount became read-only: the kernel has done so after an error. */
  readonly gaveUp: boolean;
}

const READS = 10;
/** Options of file systems that cannot be written. */
const READ_ONLY = ["ro", "emergency_ro", "shutdown"];

/**
 * The mount table, in the order of mounting. The kernel hands it out page by page, and it may change in between: it is
 * read until two readings agree and every line is whole.
 */
export async function mountTable(paths: Paths): Promise<readonly MountEntry[]> {
  const file = paths.system("proc", "self", "mountinfo");
  // It is in memory: a thread that waits for it costs more than reading it, several times for each disk.
  const read = () => readFileSync(file, "utf8");
  let before = read();
  let problem = "";
  for (let reading = 0; reading < READS; reading++) {
    const text = read();
    const settled = text === before;
    before = text;
    if (!settled) continue;
    const lines = text.split("\n").filter((line) => line !== "");
    const parsed = lines.map(parseMountLine);
    const torn = parsed.indexOf(undefined);
    if (torn < 0 && text.endsWith("\n")) return parsed.filter((entry) => entry !== undefined);
    problem = lines[torn] ?? lines.at(-1) ?? "";
  }
  throw MountTableUnreadable({ line: problem || "it changed with every reading" });
}

/** A line of `/proc/self/mountinfo`; undefined if it is not whole. */
export function parseMountLine(line: string): MountEntry | undefined {
  const fields = line.split(" ");
  const separator = fields.indexOf("-", 6);
  const [, , number, root, target, options] = fields;
  const [type, source, superOptions] = fields.slice(separator + 1);
  if (separator < 0 || superOptions === undefined || options === undefined) return undefined;
  if (number === undefined || !/^\d+:\d+$/.test(number)) return undefined;
  if (root === undefined || target === undefined || !target.startsWith("/")) return undefined;
  const flags = options.split(",");
  const stuck = superOptions.split(",").some((option) => READ_ONLY.includes(option));
  return {
    source: unescapeOctal(source ?? ""),
    target: unescapeOctal(target),
    readOnly: flags.includes("ro") || stuck,
    number,
    root: unescapeOctal(root),
    type: type ?? "",
    options: flags,
    gaveUp: stuck && !flags.includes("ro"),
  };
}

/** Space, tab, newline and backslash are written as three octal digits, byte by byte. */
export function unescapeOctal(text: string): string {
  if (!text.includes("\\")) return text;
  const bytes: Buffer[] = [];
  for (const part of text.split(/(\\[0-7]{3})/)) {
    bytes.push(
      /^\\[0-7]{3}$/.test(part) ? Buffer.from([Number.parseInt(part.slice(1), 8)]) : Buffer.from(part),
    );
  }
  return Buffer.concat(bytes).toString("utf8");
}

/** Returns the visible mount of each target: of stacked mounts, the last. */
export function visible(table: readonly MountEntry[]): readonly MountEntry[] {
  return [...new Map(table.map((entry) => [entry.target, entry])).values()];
}

export function mountAt(table: readonly MountEntry[], target: string): MountEntry | undefined {
  return table.findLast((entry) => entry.target === target);
}

/**
 * The table as the actions see it: the source of a bind mount is a directory of this machine, not the device below.
 * Which directory follows from another mount of the same file system, and is believed only if it is the same inode.
 */
export async function mountsWithSources(table: readonly MountEntry[]): Promise<readonly DiskMount[]> {
  return await Promise.all(
    visible(table).map(async (entry) => {
      const source = entry.root === "/" ? entry.source : ((await bindSource(table, entry)) ?? entry.source);
      return { source, target: entry.target, readOnly: entry.readOnly };
    }),
  );
}

/**
 * The same where directories are disks, even if a device is mounted on one from outside: what shows the whole of a
 * file system that is mounted elsewhere already is bound from there.
 */
export async function mountsOfDirectories(table: readonly MountEntry[]): Promise<readonly DiskMount[]> {
  const entries = visible(table);
  const mounts = await mountsWithSources(table);
  return await Promise.all(
    mounts.map(async (mount, at) => {
      const entry = entries[at];
      if (entry?.root !== "/") return mount;
      const earlier = await bindSource(entries.slice(0, at), entry);
      return earlier === undefined ? mount : { ...mount, source: earlier };
    }),
  );
}

export async function bindSource(
  table: readonly MountEntry[],
  entry: MountEntry,
): Promise<string | undefined> {
  const shown = await inode(entry.target);
  for (const other of visible(table)) {
    if (other === entry || other.number !== entry.number || other.target === entry.target) continue;
    const below = relativeTo(other.root, entry.root);
    if (below === undefined) continue;
    const candidate = `${other.target === "/" ? "" : other.target}${below}` || "/";
    const found = await inode(candidate);
    if (found !== undefined && found === shown) return candidate;
  }
  return undefined;
}

/** Device and inode: two paths with the same are the same directory. */
export async function inode(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path, { bigint: true });
    return `${found.dev}:${found.ino}`;
  } catch {
    // Gone, or hidden from us: it proves nothing.
    return undefined;
  }
}

/** `/a/b` below `/a` is `/b`; below itself it is empty. */
function relativeTo(root: string, path: string): string | undefined {
  if (path === root) return "";
  if (root === "/") return path;
  return path.startsWith(`${root}/`) ? path.slice(root.length) : undefined;
}
