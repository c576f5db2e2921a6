import { posix } from "node:path";
import { BadImage } from "../errors.ts";
import type { TarEntry } from "./tar-reader.ts";

const MOST_ENTRIES = 2_000_000;
const DEEPEST = 100;
/** What the sandbox mounts on, or writes to before it is alone: no link may stand there. */
const OURS = ["dev", "etc", "proc", "run", "sys", "tmp", "var", "var/vcap"];

type Judged =
  | {
      readonly kind: "kept";
      /** Without `./` in front; empty for the root itself. */
      readonly name: string;
      /** Directories that no entry has made. */
      readonly missing: readonly string[];
      /** A directory that is there. */
      readonly again: boolean;
      /** Of a hard link, the file in the archive. */
      readonly linkTo: string;
    }
  | { readonly kind: "skipped"; readonly why: string };

/** Judges the entries of a root file system before anything of them is written, in the order in which they come. */
export class Entries {
  readonly #seen = new Map<string, TarEntry["type"]>();
  #count = 0;

  judge(entry: TarEntry): Judged {
    if (++this.#count > MOST_ENTRIES) throw BadImage({ why: `it has more than ${MOST_ENTRIES} entries` });
    const name = plainName(entry.name);
    if (entry.type === "device" || entry.type === "fifo")
      return {
        kind: "skipped",
        why: `${shown(name)} is a ${entry.type}, and sandboxes have the host's devices`,
      };
    if (name === "") {
      if (entry.type !== "directory") throw BadImage({ why: "its root is no directory" });
      return { kind: "kept", name, missing: [], again: true, linkTo: "" };
    }
    const before = this.#seen.get(name);
    const again = before === "directory" && entry.type === "directory";
    if (before !== undefined && !again) throw BadImage({ why: `${shown(name)} stands in it twice` });
    if (entry.type === "symlink") mustStayInside(name, entry.linkName);
    if (entry.type !== "directory" && OURS.includes(name))
      throw BadImage({ why: `/${name} is a ${entry.type}, and must be a directory` });
    const linkTo = entry.type === "link" ? this.#linked(name, entry) : "";
    const missing = this.#missingAbove(name);
    for (const directory of missing) this.#seen.set(directory, "directory");
    this.#seen.set(name, entry.type);
    return { kind: "kept", name, missing, again, linkTo };
  }

  /** An image of something else would make sandboxes that cannot start. */
  mustBeRoot(): void {
    if (!this.#seen.has("bin/sh") && !this.#seen.has("usr/bin/sh"))
      throw BadImage({ why: "it is no root file system: it has no /bin/sh" });
  }

  #linked(name: string, entry: TarEntry): string {
    const target = plainName(entry.linkName);
    if (this.#seen.get(target) !== "file" && this.#seen.get(target) !== "link")
      throw BadImage({ why: `${shown(name)} is a link to ${shown(target)}, which is no file before it` });
    return target;
  }

  /** Nothing is put into a directory that is not one of this archive's: not through a link, above all. */
  #missingAbove(name: string): string[] {
    const missing: string[] = [];
    for (let at = posix.dirname(name); at !== "."; at = posix.dirname(at)) {
      const above = this.#seen.get(at);
      if (above === "directory") break;
      if (above !== undefined)
        throw BadImage({ why: `${shown(name)} would go through ${shown(at)}, a ${above}` });
      missing.unshift(at);
    }
    return missing;
  }
}

function plainName(name: string): string {
  const parts = name.split("/");
  if (name.startsWith("/")) throw BadImage({ why: `${shown(name)} is an absolute path` });
  if (parts.includes("..")) throw BadImage({ why: `${shown(name)} leads out of it` });
  if (name.includes("\0")) throw BadImage({ why: "the name of an entry has a zero byte" });
  const plain = parts.filter((part) => part !== "" && part !== ".");
  if (plain.length > DEEPEST) throw BadImage({ why: `${shown(name)} is too deep` });
  return plain.join("/");
}

/** Absolute targets are the sandbox's own; a relative one must not climb above its root. */
function mustStayInside(name: string, target: string): void {
  if (target === "") throw BadImage({ why: `${shown(name)} is a link to nothing` });
  if (target.startsWith("/")) return;
  const reached = posix.normalize(posix.join(posix.dirname(name), target));
  if (reached === ".." || reached.startsWith("../"))
    throw BadImage({ why: `the link ${shown(name)} leads out of it, to ${shown(target)}` });
}

const shown = (name: string) => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}...` : name);
