import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { diskNotFound } from "@slipway/cpi-sdk/errors";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { exists, place } from "./places.ts";

/** A disk is a directory. Its size is remembered and not enforced. */
export class Disks {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = join(dir, "disks");
  }

  /** What the agent mounts. */
  content(cid: string): string {
    return join(this.#path(cid), "content");
  }

  has(cid: string): Promise<boolean> {
    return exists(this.#path(cid));
  }

  async must(cid: string): Promise<void> {
    if (!(await this.has(cid))) throw diskNotFound(cid);
  }

  /** Made under another name and renamed when whole. */
  async create(cid: string, size: number): Promise<string> {
    if (await this.has(cid)) return cid;
    const partial = `${this.#path(cid)}.partial`;
    await rm(partial, { recursive: true, force: true });
    await mkdir(join(partial, "content"), { recursive: true, mode: 0o700 });
    await writeFileAtomic(join(partial, "size"), String(size));
    await rename(partial, this.#path(cid));
    return cid;
  }

  async size(cid: string): Promise<number> {
    return Number(await readFile(join(this.#path(cid), "size"), "utf8"));
  }

  resize(cid: string, size: number): Promise<void> {
    return writeFileAtomic(join(this.#path(cid), "size"), String(size));
  }

  async remove(cid: string): Promise<void> {
    const doomed = `${this.#path(cid)}.deleted`;
    await rename(this.#path(cid), doomed);
    await rm(doomed, { recursive: true, force: true });
  }

  #path(cid: string): string {
    return join(this.#dir, place(cid));
  }
}
