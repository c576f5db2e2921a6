import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { exists, place } from "./places.ts";

/** Images are kept and not looked into: the VMs of this CPI run what the host has. */
export class Stemcells {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = join(dir, "stemcells");
  }

  has(cid: string): Promise<boolean> {
    return exists(this.#path(cid));
  }

  async create(cid: string, imagePath: string): Promise<string> {
    if (await this.has(cid)) return cid;
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    const partial = `${this.#path(cid)}.partial`;
    try {
      await copyFile(imagePath, partial);
      await rename(partial, this.#path(cid));
    } finally {
      await rm(partial, { force: true });
    }
    return cid;
  }

  async remove(cid: string): Promise<void> {
    await rm(this.#path(cid), { force: true });
  }

  #path(cid: string): string {
    return join(this.#dir, place(cid));
  }
}
