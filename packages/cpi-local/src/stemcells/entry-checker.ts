import { posix } from "node:path";
import { plainName, shownName, type TarEntry } from "@slipway/kernel/tar/read";
import { BadImage } from "../errors.ts";

const MOST_ENTRIES = 2_000_000;
const DEEPEST = 100;
const NODES: readonly TarEntry["type"][] = ["character-device", "block-device", "fifo"];
/** Paths that the sandbox mounts on, or writes to before it is isolated: no link may stand there. */
const OURS = ["dev", "etc", "proc", "run", "sys", "tmp", "var", "var/vcap"];

export const refuse = (why: string): Error => BadImage({ why });

type Judged =
  | {
      readonly kind: "kept";
      /** Without `./` in front; empty for the root itself. */
      readonly name: string;
      /** Directories that no entry has made. */
      readonly missing: readonly string[];
      /** A directory that is there. */
      readonly again: boolean;
      /** File in the archive that a hard link points to. */
      readonly linkTo: string;
    }
  | { readonly kind: "skipped"; readonly why: string };

/** Judges the entries of a root file system before anything of them is written, in the order in which they come. */
export class EntryChecker {
  readonly #seen = new Map<string, TarEntry["type"]>();
  #count = 0;

  judge(entry: TarEntry): Judged {
    if (++this.#count > MOST_ENTRIES) throw BadImage({ why: `it has more than ${MOST_ENTRIES} entries` });
    const name = nameOf(entry.name);
    if (entry.type === "unknown")
      throw BadImage({ why: `${shownName(name)} is of an unknown kind (${JSON.stringify(entry.flag)})` });
    if (NODES.includes(entry.type))
      return {
        kind: "skipped",
        why: `${shownName(name)} is a ${entry.type}, and sandboxes have the host's devices`,
      };
    if (name === "") {
      if (entry.type !== "directory") throw BadImage({ why: "its root is no directory" });
      return { kind: "kept", name, missing: [], again: true, linkTo: "" };
    }
    const before = this.#seen.get(name);
    const again = before === "directory" && entry.type === "directory";
    if (before !== undefined && !again) throw BadImage({ why: `${shownName(name)} stands in it twice` });
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
    const target = nameOf(entry.linkName);
    if (this.#seen.get(target) !== "file" && this.#seen.get(target) !== "link")
      throw BadImage({
        why: `${shownName(name)} is a link to ${shownName(target)}, which is no file before it`,
      });
    return target;
  }

  /** Nothing is put into a directory that is not one of this archive's: not through a link, above all. */
  #missingAbove(name: string): string[] {
    const missing: string[] = [];
    for (let at = posix.dirname(name); at !== "."; at = posix.dirname(at)) {
      const above = this.#seen.get(at);
      if (above === "directory") break;
      if (above !== undefined)
        throw BadImage({ why: `${shownName(name)} would go through ${shownName(at)}, a ${above}` });
      missing.unshift(at);
    }
    return missing;
  }
}

function nameOf(name: string): string {
  const plain = plainName(name, refuse);
  if (plain.split("/").length > DEEPEST) throw BadImage({ why: `${shownName(name)} is too deep` });
  return plain;
}

/** Absolute targets are the sandbox's own; a relative one must not climb above its root. */
function mustStayInside(name: string, target: string): void {
  if (target === "") throw BadImage({ why: `${shownName(name)} is a link to nothing` });
  if (target.startsWith("/")) return;
  const reached = posix.normalize(posix.join(posix.dirname(name), target));
  if (reached === ".." || reached.startsWith("../"))
    throw BadImage({ why: `the link ${shownName(name)} leads out of the archive, to ${shownName(target)}` });
}
