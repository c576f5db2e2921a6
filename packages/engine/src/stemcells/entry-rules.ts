import { plainName, shownName, type TarEntry } from "@slipway/kernel/tar/read";

const NEEDED = ["stemcell.MF", "image"];
const MOST_ENTRIES = 10_000;
const LARGEST_MANIFEST = 1 << 20;

export interface EntryRules {
  /** Size limit of each kept file, and of all together. */
  readonly mostBytes: number;
  readonly tooBig: () => Error;
  readonly refused: (why: string) => Error;
  /** All files, not only the two that every stemcell needs. */
  readonly keepAll?: boolean;
  /** True for a plain tar. */
  readonly uncompressed?: boolean;
}

/**
 * Judges the entries of a stemcell by their headers, before anything is written: returns the name to keep an entry under, or
 * undefined. Only the two needed files are kept, but one bad entry is enough to reject the archive, because no stemcell has such
 * entries.
 */
export function entryRules({ mostBytes, tooBig, refused, keepAll = false }: EntryRules) {
  const seen = new Set<string>();
  let entries = 0;
  return (entry: TarEntry): string | undefined => {
    if (++entries > MOST_ENTRIES) throw refused(`it has more than ${MOST_ENTRIES} entries`);
    const name = nameOf(entry, refused);
    if (entry.type === "directory") {
      if (NEEDED.includes(name)) throw refused(`${name} is a directory`);
      return undefined;
    }
    if (entry.type === "unknown") throw refused(`${shownName(name)} is of an unknown kind, not a file`);
    if (entry.type !== "file") throw refused(`${shownName(name)} is a ${entry.type}, not a file`);
    if (seen.has(name)) throw refused(`${shownName(name)} stands in it twice`);
    seen.add(name);
    if (!keepAll && !NEEDED.includes(name)) return undefined;
    if (entry.size > mostBytes) throw tooBig();
    if (name === "stemcell.MF" && entry.size > LARGEST_MANIFEST)
      throw refused("its stemcell.MF is too large");
    return name;
  };
}

/** No stemcell has names that mean something else on Windows, or to a terminal. */
function nameOf({ name, type }: TarEntry, refused: (why: string) => Error): string {
  if (/^[A-Za-z]:/.test(name)) throw refused(`${shownName(name)} is an absolute path`);
  const plain = plainName(name.replaceAll("\\", "/"), refused);
  if (/\p{Cc}/u.test(name)) throw refused("the name of an entry has control characters");
  if (plain === "" && type !== "directory") throw refused("a file in it has no name");
  return plain;
}
