import type { TarHeader } from "modern-tar";
import { BadArchive } from "./errors.ts";

const NEEDED = ["stemcell.MF", "image"];
const MOST_ENTRIES = 10_000;
const LARGEST_MANIFEST = 1 << 20;

export interface EntryRules {
  /** Of one file that is kept, and of all together. */
  readonly mostBytes: number;
  readonly tooBig: () => Error;
  readonly refused?: (why: string) => Error;
  /** All files, not only the two that every stemcell needs. */
  readonly keepAll?: boolean;
}

/**
 * Judges the entries of a stemcell by their headers, before anything of them is written. Only the two files we need are
 * kept, but one bad entry is enough to refuse the archive: whoever made it did not make a stemcell.
 */
export function entryRules({ mostBytes, tooBig, refused = badArchive, keepAll = false }: EntryRules) {
  const seen = new Set<string>();
  let entries = 0;
  const filter = (header: TarHeader): boolean => {
    if (++entries > MOST_ENTRIES) throw refused(`it has more than ${MOST_ENTRIES} entries`);
    const name = plainName(header.name, refused);
    if (header.type === "directory") {
      if (NEEDED.includes(name)) throw refused(`${name} is a directory`);
      return false;
    }
    if (header.type !== "file")
      throw refused(`${printable(name)} is a ${header.type ?? "thing"}, not a file`);
    if (Object.keys(header.pax ?? {}).some((key) => key.startsWith("GNU.sparse"))) {
      throw refused(`${printable(name)} is stored as a sparse file`);
    }
    if (seen.has(name)) throw refused(`${printable(name)} stands in it twice`);
    seen.add(name);
    if (!keepAll && !NEEDED.includes(name)) return false;
    if (header.size > mostBytes) throw tooBig();
    if (name === "stemcell.MF" && header.size > LARGEST_MANIFEST)
      throw refused("its stemcell.MF is too large");
    return true;
  };
  const map = (header: TarHeader): TarHeader => ({ ...header, name: plainName(header.name, refused) });
  return { filter, map };
}

const badArchive = (why: string): Error => BadArchive({ why });

/** Without `./` in front. */
function plainName(name: string, refused: (why: string) => Error): string {
  if (name.startsWith("/") || /^[A-Za-z]:/.test(name))
    throw refused(`${printable(name)} is an absolute path`);
  const parts = name.split(/[/\\]/);
  if (parts.includes("..")) throw refused(`${printable(name)} leads out of the archive`);
  if (/\p{Cc}/u.test(name)) throw refused("the name of an entry has control characters");
  return parts.filter((part) => part !== "" && part !== ".").join("/");
}

const printable = (name: string) => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}...` : name);
