import { BLOCK, padding, TAR_TYPES, TarHeader, untilNul } from "./header.ts";
import { Pieces } from "./pieces.ts";

export type TarType = (typeof TAR_TYPES)[keyof typeof TAR_TYPES] | "unknown";

export interface TarEntry {
  readonly name: string;
  readonly type: TarType;
  /** The letter of the format, for a type that is not known. */
  readonly flag: string;
  readonly linkName: string;
  /** Size of the content; 0 for entries without content. */
  readonly size: number;
  /** Read only when somebody has a use for them: who passes an archive on need not judge them. */
  attributes(): TarAttributes;
}

export interface TarAttributes {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Seconds since 1970. */
  readonly mtime: number;
}

export interface TarRules {
  /** The error for a tar that cannot be read, by what is wrong with it. */
  readonly refuse: (why: string) => Error;
  /** Programs write blocks of zeros at the end; without them nobody can tell one that was cut off between two entries. */
  readonly end: "needed" | "optional";
}

/** Go's reader, the container engines', takes no more. */
const MOST_EXTENDED = 1 << 20;

/**
 * Reads a tar entry by entry and understands nothing by guess, so that no other program finds other entries in the same
 * bytes: what could be read in two ways ends it. Sparse files are refused, because a few bytes become a disk full of
 * zeros. Names and links are judged by the caller. Content must be read before the next entry; the rest is skipped.
 *
 * Not modern-tar: that one takes every type it does not know, GNU's sparse files among them, for a plain file.
 */
export async function* readTar(
  bytes: AsyncIterable<Uint8Array>,
  rules: TarRules,
): AsyncGenerator<{ readonly entry: TarEntry; readonly body: AsyncIterable<Uint8Array> }> {
  const { refuse } = rules;
  const source = new Pieces(bytes, () => refuse("it ends too early, as an upload that was cut off does"));
  try {
    let told: Told = {};
    for (;;) {
      if (rules.end === "optional" && (await source.ended())) return;
      const block = await source.take(BLOCK);
      if (isZero(block)) return await atEnd(source, refuse);
      const header = new TarHeader(block, refuse);
      if ("xgLK".includes(header.flag)) {
        told = await extended(header, source, told, refuse);
        continue;
      }
      const entry = entryOf(header, told, refuse);
      told = {};
      source.left = entry.size;
      yield { entry, body: source.rest() };
      // Whatever of it was not read.
      for await (const _ of source.rest());
      await source.take(padding(entry.size));
    }
  } finally {
    await source.close();
  }
}

const isZero = (block: Buffer): boolean => block.every((byte) => byte === 0);

/** Reads on after the archive's end: the last bytes of a compressed file prove it whole. */
async function atEnd(source: Pieces, refuse: TarRules["refuse"]): Promise<void> {
  if (!(await source.ended()) && !isZero(await source.take(BLOCK)))
    throw refuse("it is damaged, or no tar (an entry follows its end)");
  await source.drain();
}

/** Attributes that precede an entry. */
interface Told {
  readonly pax?: ReadonlyMap<string, string>;
  readonly longName?: string;
  readonly longLink?: string;
}

async function extended(
  header: TarHeader,
  source: Pieces,
  told: Told,
  refuse: TarRules["refuse"],
): Promise<Told> {
  const { flag, size } = header;
  if (size > MOST_EXTENDED) throw refuse("it has a name or an attribute that is too long");
  // A copy: what comes after may be in the same piece.
  const bytes = Buffer.from(await source.take(size));
  await source.take(padding(size));
  if (flag === "L") return { ...told, longName: untilNul(bytes) };
  if (flag === "K") return { ...told, longLink: untilNul(bytes) };
  const pax = recordsIn(bytes, refuse);
  const sparse = [...pax.keys()].some((key) => key.startsWith("GNU.sparse"));
  if (sparse)
    throw refuse(`${shownName(pax.get("GNU.sparse.name") ?? pax.get("path") ?? "a file")} ${SPARSE}`);
  if (flag === "x") return { ...told, pax };
  if (["path", "linkpath", "size"].some((key) => pax.has(key)))
    throw refuse("it is damaged, or no tar (it has one name or size for all files)");
  return told;
}

const SPARSE = "is stored as a sparse file; pack it without --sparse";

function entryOf(header: TarHeader, { pax, longName, longLink }: Told, refuse: TarRules["refuse"]): TarEntry {
  const [path, linkPath, told] = ["path", "linkpath", "size"].map((key) => pax?.get(key));
  // Programs do not agree which of them counts.
  if ((path ?? longName) !== (longName ?? path) || (linkPath ?? longLink) !== (longLink ?? linkPath))
    throw refuse("it is damaged, or no tar (an entry has two names)");
  const name = path ?? longName ?? header.name;
  const { flag } = header;
  if (flag === "S") throw refuse(`${shownName(name)} ${SPARSE}`);
  const type = typeOf(flag, name);
  const size = told === undefined ? header.size : decimal(told, refuse);
  const own = (key: "uid" | "gid") => {
    const text = pax?.get(key);
    return text === undefined ? header[key] : decimal(text, refuse);
  };
  return {
    name,
    type,
    flag,
    linkName: linkPath ?? longLink ?? header.linkName,
    // Nothing follows the header of the others, whatever size it says.
    size: type === "file" || type === "unknown" ? size : 0,
    attributes: () => ({ mode: header.mode, uid: own("uid"), gid: own("gid"), mtime: header.mtime }),
  };
}

function typeOf(flag: string, name: string): TarType {
  // So the oldest programs wrote directories.
  if (flag === "\0" && name.endsWith("/")) return "directory";
  return TAR_TYPES[flag as keyof typeof TAR_TYPES] ?? "unknown";
}

/** Pax: `LENGTH KEY=VALUE\n`, one after the other. */
function recordsIn(bytes: Buffer, refuse: TarRules["refuse"]): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const length = Number(/^(\d{1,7}) /.exec(bytes.toString("latin1", at, at + 8))?.[1] ?? 0);
    const record = bytes.toString("utf8", at, at + length);
    const [, key, value] = /^\d+ ([^=]+)=(.*)\n$/s.exec(record) ?? [];
    if (key === undefined || value === undefined || at + length > bytes.length)
      throw refuse("it is damaged, or no tar (an attribute is none)");
    records.set(key, value);
    at += length;
  }
  return records;
}

function decimal(text: string, refuse: TarRules["refuse"]): number {
  if (!/^\d{1,15}$/.test(text)) throw refuse("it is damaged, or no tar (a number is none)");
  return Number(text);
}

/**
 * The name of an entry as a path below where it is unpacked, without `./` in front; empty for that directory itself. One
 * that leads anywhere else is refused.
 */
export function plainName(name: string, refuse: TarRules["refuse"]): string {
  if (name.startsWith("/")) throw refuse(`${shownName(name)} is an absolute path`);
  const parts = name.split("/");
  if (parts.includes("..")) throw refuse(`${shownName(name)} leads out of the archive`);
  if (name.includes("\0")) throw refuse("the name of an entry has a zero byte");
  return parts.filter((part) => part !== "" && part !== ".").join("/");
}

/** Names come from strangers: quoted, and not without end. */
export const shownName = (name: string): string =>
  JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}...` : name);
