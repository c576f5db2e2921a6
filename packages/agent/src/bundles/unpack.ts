import { createWriteStream } from "node:fs";
import { chmod, lchown, link, mkdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { systemCode, toError } from "@slipway/kernel/errors";
import { archiveBytes, fileArchiveKind } from "@slipway/kernel/tar/file";
import { plainName, readTar, shownName, type TarEntry } from "@slipway/kernel/tar/read";
import { BadArchive } from "./errors.ts";
import { WriteQueue } from "./write-queue.ts";

/** Place in an empty directory of ours, to which nothing else writes meanwhile. */
export interface UnpackPlace {
  readonly directory: string;
  /** Path below the directory. Empty for the directory itself. */
  readonly name: string;
}

export interface UnpackRules {
  /** For messages: `job archive of web`. */
  readonly what: string;
  /** Returns the place of an entry. Undefined if the entry is not needed. */
  readonly placeOf: (name: string) => UnpackPlace | undefined;
  /** Returns the mode of a file or directory, by its place and its mode in the archive. */
  readonly modeOf: (place: UnpackPlace, kind: "file" | "directory", mode: number) => number;
  /** Owner of all unpacked files. The default is the agent's user. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
  /** Keeps the times of files, which built programs compare. */
  readonly keepTimes: boolean;
  /** Packages link to other packages by their absolute path. Nothing is written through a link either way. */
  readonly absoluteLinks: boolean;
  readonly mostBytes: number;
  readonly signal: AbortSignal;
}

const MOST_ENTRIES = 2_000_000;
/** Read whole, and written while the next ones are read. */
const SMALL = 1 << 18;
/** Nothing of that name is there, and a link is not followed. */
const NEW_FILE = "wx";

/** Returns true if the archive is gzipped. Upstream packs a compiled package the way its source was packed. */
export async function isGzipped(path: string, what: string): Promise<boolean> {
  const kind = await fileArchiveKind(path);
  if (kind === undefined) throw BadArchive({ what, why: "it is no tar archive" });
  return kind === "tar.gz";
}

/** Unpacks an archive strictly. What it has written when it fails is the caller's to remove. */
export async function unpack(path: string, rules: UnpackRules): Promise<void> {
  const gzip = await isGzipped(path, rules.what);
  const refuse = (why: string) => BadArchive({ what: rules.what, why });
  const bytes = archiveBytes(path, { gzip, signal: rules.signal });
  const unpacker = new Unpacker(rules, refuse);
  try {
    for await (const { entry, body } of readTar(bytes, { refuse, end: "optional" }))
      await unpacker.add(entry, body);
    await unpacker.finish();
  } catch (error) {
    await unpacker.abandon();
    rules.signal.throwIfAborted();
    // zlib's own words for a file that was cut off or damaged.
    if (systemCode(error)?.startsWith("Z_")) throw refuse(`it is damaged (${toError(error).message})`);
    throw error;
  }
}

type Made = "file" | "directory" | "symlink";

class Unpacker {
  readonly #rules: UnpackRules;
  readonly #refuse: (why: string) => Error;
  /** Everything that exists, by its path. Nothing else does, so no link can lead astray. */
  readonly #made = new Map<string, Made>();
  readonly #directoryModes = new Map<string, number>();
  readonly #writes = new WriteQueue();
  readonly #umask = process.umask();
  #bytes = 0;
  #entries = 0;

  constructor(rules: UnpackRules, refuse: (why: string) => Error) {
    this.#rules = rules;
    this.#refuse = refuse;
  }

  async add(entry: TarEntry, body: AsyncIterable<Uint8Array>): Promise<void> {
    this.#entries += 1;
    this.#bytes += entry.size;
    if (this.#entries > MOST_ENTRIES) throw this.#refuse(`it has more than ${MOST_ENTRIES} entries`);
    if (this.#bytes > this.#rules.mostBytes)
      throw this.#refuse(`it unpacks to more than ${this.#rules.mostBytes} bytes`);
    const name = plainName(entry.name, this.#refuse);
    const place = this.#rules.placeOf(name);
    if (place === undefined) return;
    const path = place.name === "" ? place.directory : join(place.directory, place.name);
    if (place.name === "" && entry.type !== "directory")
      throw this.#refuse(`${shownName(entry.name)} stands for the directory itself`);
    switch (entry.type) {
      case "directory":
        await this.#directory(place, path, entry.attributes().mode, entry.name);
        return;
      case "file":
        await this.#parents(place, entry.name);
        await this.#vacate(path, entry.name);
        return await this.#file(place, path, entry, body);
      case "symlink":
        this.#judgeLink(place, entry);
        await this.#parents(place, entry.name);
        await this.#vacate(path, entry.name);
        this.#made.set(path, "symlink");
        await symlink(entry.linkName, path);
        return await this.#own(path);
      case "link": {
        const target = this.#rules.placeOf(plainName(entry.linkName, this.#refuse));
        const existing = target === undefined ? "" : join(target.directory, target.name);
        if (target?.directory !== place.directory || this.#made.get(existing) !== "file")
          throw this.#refuse(
            `${shownName(entry.name)} is a link to ${shownName(entry.linkName)}, no file before it`,
          );
        if (existing === path) return;
        await this.#parents(place, entry.name);
        await this.#vacate(path, entry.name);
        await this.#writes.idle();
        this.#made.set(path, "file");
        return await link(existing, path);
      }
      default:
        throw this.#refuse(
          `${shownName(entry.name)} is a ${entry.type === "unknown" ? `thing of type ${shownName(entry.flag)}` : entry.type}`,
        );
    }
  }

  /** Modes of directories are set last: a read-only directory could not be filled. */
  async finish(): Promise<void> {
    await this.#writes.idle();
    for (const [path, mode] of [...this.#directoryModes].reverse()) await chmod(path, mode);
  }

  async abandon(): Promise<void> {
    await this.#writes.idle().catch(() => undefined);
  }

  async #directory(place: UnpackPlace, path: string, mode: number, shown: string): Promise<void> {
    await this.#parents(place, shown);
    await this.#makeDirectory(place, path, mode, shown);
  }

  /** All above it, up to the directory that everything goes into. */
  async #parents(place: UnpackPlace, shown: string): Promise<void> {
    const parts = place.name.split("/").slice(0, -1);
    for (let depth = 0; depth <= parts.length; depth++) {
      const name = parts.slice(0, depth).join("/");
      const path = name === "" ? place.directory : join(place.directory, name);
      if (this.#made.get(path) === "directory") continue;
      await this.#makeDirectory({ ...place, name }, path, 0o755, shown);
    }
  }

  async #makeDirectory(place: UnpackPlace, path: string, mode: number, shown: string): Promise<void> {
    const found = this.#made.get(path);
    if (found !== undefined && found !== "directory")
      throw this.#refuse(`${shownName(shown)} goes through a ${found === "symlink" ? "link" : "file"}`);
    this.#directoryModes.set(path, this.#rules.modeOf(place, "directory", mode));
    if (found !== undefined) return;
    this.#made.set(path, "directory");
    // The directory itself is there already.
    if (place.name !== "") await mkdir(path, { mode: 0o700 });
    await this.#own(path);
  }

  /** The last of several entries of one name counts, as tar has it. */
  async #vacate(path: string, shown: string): Promise<void> {
    const found = this.#made.get(path);
    if (found === undefined) return;
    if (found === "directory") throw this.#refuse(`${shownName(shown)} is a directory before it`);
    await this.#writes.idle();
    await rm(path);
  }

  async #file(
    place: UnpackPlace,
    path: string,
    entry: TarEntry,
    body: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    this.#made.set(path, "file");
    const { mode, mtime } = entry.attributes();
    const facts = { mode: this.#rules.modeOf(place, "file", mode), mtime };
    if (entry.size > SMALL) {
      const file = createWriteStream(path, { flags: NEW_FILE, mode: facts.mode });
      await pipeline(body, file, { signal: this.#rules.signal });
      return await this.#dress(path, facts);
    }
    const pieces: Uint8Array[] = [];
    for await (const piece of body) pieces.push(piece);
    // A copy: what the pieces are parts of is large.
    const content = Buffer.concat(pieces);
    await this.#writes.add(async () => {
      await writeFile(path, content, { flag: NEW_FILE, mode: facts.mode });
      await this.#dress(path, facts);
    });
  }

  /** Owner first: giving a file away takes bits of its mode. What the file has already is not set again. */
  async #dress(
    path: string,
    { mode, mtime }: { readonly mode: number; readonly mtime: number },
  ): Promise<void> {
    const { owner, keepTimes } = this.#rules;
    if (owner !== undefined) await lchown(path, owner.uid, owner.gid);
    if (owner !== undefined || (mode & ~this.#umask & 0o777) !== mode) await chmod(path, mode);
    if (keepTimes) await utimes(path, mtime, mtime);
  }

  async #own(path: string): Promise<void> {
    const { owner } = this.#rules;
    if (owner !== undefined) await lchown(path, owner.uid, owner.gid);
  }

  #judgeLink(place: UnpackPlace, { name, linkName }: TarEntry): void {
    const shown = `${shownName(name)} is a link to ${shownName(linkName)}`;
    if (linkName === "" || linkName.includes("\0")) throw this.#refuse(`${shown}, which is nowhere`);
    if (linkName.startsWith("/")) {
      if (this.#rules.absoluteLinks) return;
      throw this.#refuse(`${shown}, an absolute path`);
    }
    let depth = place.name.split("/").length - 1;
    let named = false;
    for (const part of linkName.split("/")) {
      if (part === "" || part === ".") continue;
      depth += part === ".." ? -1 : 1;
      // Up again from a name that may be a link itself: the target is unknown.
      const astray = part === ".." && named && !this.#rules.absoluteLinks;
      if (depth < 0 || astray) throw this.#refuse(`${shown}, which leads out of it`);
      named ||= part !== "..";
    }
  }
}
