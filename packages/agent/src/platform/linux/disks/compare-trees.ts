import type { BigIntStats } from "node:fs";
import { lstat, open, readdir, readlink } from "node:fs/promises";
import type { Exec } from "@slipway/kernel/exec";
import { readFully } from "./superblock.ts";

const MOST_DIFFERENCES = 10;
const CHUNK = 1024 * 1024;
const ARGUMENT_BYTES = 64 * 1024;
/** Labels of SELinux and the like depend on the machine and not on the data. */
const XATTRS = "^(user|trusted)\\.|^security\\.capability$|^system\\.posix_acl";

/**
 * Returns up to ten differences between a tree and its copy; an empty list means equal. Compares types, modes, owners,
 * sizes, modification times to the nanosecond, link targets, device numbers, which names are hard links of each other,
 * extended attributes, and every byte. Names are bytes: they need not be UTF-8.
 */
export async function differences(exec: Exec, from: string, to: string): Promise<readonly string[]> {
  const walk = new Comparison(exec, from, to);
  await walk.run();
  return walk.found;
}

class Comparison {
  readonly found: string[] = [];
  readonly #exec: Exec;
  readonly #from: string;
  readonly #to: string;
  /** Inodes with several names: which inode of the copy stands for which of the source. */
  readonly #links = new Map<bigint, bigint>();
  readonly #names: string[] = [];
  #namesBytes = 0;
  #device = 0n;

  constructor(exec: Exec, from: string, to: string) {
    this.#exec = exec;
    this.#from = from;
    this.#to = to;
  }

  async run(): Promise<void> {
    this.#device = (await lstat(this.#from, { bigint: true })).dev;
    await this.#entry(Buffer.alloc(0));
    await this.#attributes();
  }

  get #enough(): boolean {
    return this.found.length >= MOST_DIFFERENCES;
  }

  #differ(name: Buffer, what: string): void {
    if (!this.#enough) this.found.push(`${name.toString("utf8") || "."}: ${what}`);
  }

  async #entry(name: Buffer): Promise<void> {
    if (this.#enough) return;
    const [source, copy] = [at(this.#from, name), at(this.#to, name)];
    const a = await lstat(source, { bigint: true });
    // Another file system is mounted there, it is not part of this disk.
    if (a.dev !== this.#device) return;
    const b = await lstat(copy, { bigint: true }).catch(() => undefined);
    if (b === undefined) return this.#differ(name, "is missing in the copy");
    const facts = unequalFacts(a, b);
    if (facts.length > 0) return this.#differ(name, facts.join(", "));
    this.#hardLinks(name, a, b);
    await this.#rememberName(name);
    if (a.isDirectory()) return this.#directory(name, source, copy);
    if (a.isSymbolicLink()) {
      const [left, right] = await Promise.all([source, copy].map((path) => readlink(path, "buffer")));
      if (!left?.equals(right ?? Buffer.alloc(0))) this.#differ(name, "links to something else");
    }
    if (a.isFile()) {
      const offset = await firstDifference(source, copy, Number(a.size));
      if (offset !== undefined) this.#differ(name, `content differs at byte ${offset}`);
    }
  }

  async #directory(name: Buffer, source: Buffer, copy: Buffer): Promise<void> {
    const [inSource, inCopy] = await Promise.all(
      [source, copy].map((path) => readdir(path, { encoding: "buffer" })),
    );
    const expected = new Set(inSource?.map((entry) => entry.toString("latin1")));
    for (const extra of inCopy ?? []) {
      if (expected.has(extra.toString("latin1"))) continue;
      // Every new ext4 has one.
      if (name.length === 0 && extra.toString("latin1") === "lost+found") continue;
      this.#differ(joined(name, extra), "is only in the copy");
    }
    for (const entry of inSource ?? []) await this.#entry(joined(name, entry));
  }

  #hardLinks(name: Buffer, a: BigIntStats, b: BigIntStats): void {
    if (a.isDirectory() || a.nlink < 2n) return;
    const known = this.#links.get(a.ino);
    this.#links.set(a.ino, b.ino);
    if (known !== undefined && known !== b.ino) this.#differ(name, "is not a hard link of the same file");
  }

  /** Attributes are asked for many names at once. A name that is no text cannot be an argument; cp vouches for those. */
  async #rememberName(name: Buffer): Promise<void> {
    const text = `./${name.toString("utf8")}`;
    if (!Buffer.from(text.slice(2)).equals(name)) return;
    this.#names.push(text);
    this.#namesBytes += text.length + 1;
    if (this.#namesBytes >= ARGUMENT_BYTES) await this.#attributes();
  }

  async #attributes(): Promise<void> {
    const names = this.#names.splice(0);
    this.#namesBytes = 0;
    if (names.length === 0 || this.#enough) return;
    // The same names in the same order must print the same text.
    const args = ["-d", "-h", "-e", "hex", "-m", XATTRS, "--", ...names];
    const [a, b] = await Promise.all(
      [this.#from, this.#to].map((cwd) => this.#exec("getfattr", args, { cwd, keep: 64 * CHUNK })),
    );
    if (a?.stdout !== b?.stdout)
      this.found.push(`extended attributes of ${firstOther(a?.stdout, b?.stdout)}`);
  }
}

const at = (base: string, name: Buffer) =>
  name.length === 0 ? Buffer.from(base) : Buffer.concat([Buffer.from(`${base}/`), name]);

const joined = (directory: Buffer, entry: Buffer) =>
  directory.length === 0 ? entry : Buffer.concat([directory, Buffer.from("/"), entry]);

function unequalFacts(a: BigIntStats, b: BigIntStats): string[] {
  const facts: string[] = [];
  // The mode holds the type too.
  if (a.mode !== b.mode) facts.push(`mode is ${b.mode.toString(8)}, not ${a.mode.toString(8)}`);
  if (a.uid !== b.uid || a.gid !== b.gid) facts.push(`owner is ${b.uid}:${b.gid}, not ${a.uid}:${a.gid}`);
  if (!a.isDirectory() && a.size !== b.size) facts.push(`size is ${b.size}, not ${a.size}`);
  if (a.mtimeNs !== b.mtimeNs) facts.push("modification time differs");
  if ((a.isBlockDevice() || a.isCharacterDevice()) && a.rdev !== b.rdev) facts.push("is another device");
  return facts;
}

async function firstDifference(source: Buffer, copy: Buffer, size: number): Promise<number | undefined> {
  const a = await open(source, "r");
  try {
    const b = await open(copy, "r");
    try {
      for (let offset = 0; offset < size; offset += CHUNK) {
        // Most files are small; a whole chunk for each would be most of the work.
        const length = Math.min(CHUNK, size - offset);
        const [left, right] = await Promise.all([a, b].map((handle) => readFully(handle, offset, length)));
        if (left === undefined || right === undefined || left.equals(right)) continue;
        return offset + left.findIndex((byte, index) => byte !== right[index]);
      }
      return undefined;
    } finally {
      await b.close();
    }
  } finally {
    await a.close();
  }
}

/** The file whose block of output is not the same. */
function firstOther(a = "", b = ""): string {
  const others = new Set(b.split("\n\n"));
  const other = a.split("\n\n").find((block) => !others.has(block)) ?? b.split("\n\n")[0] ?? "";
  return /^# file: (.*)$/m.exec(other)?.[1] ?? "some file";
}
