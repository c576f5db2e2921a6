import { mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { verifyDigest } from "@slipway/engine/stemcells/digest";
import { exists } from "@slipway/kernel/files";
import type { Random } from "@slipway/kernel/random";
import { BadReleaseFile } from "./errors.ts";

/** The archives that were ever made or fetched here, by their digests. The `bosh` CLI has the same directory. */
export class ArchiveCache {
  readonly #dir: string;
  readonly #random: Random;

  constructor(env: Readonly<Record<string, string | undefined>>, random: Random) {
    this.#dir = join(env.HOME || homedir(), ".bosh", "cache");
    this.#random = random;
  }

  /** Returns the archive's path; undefined if the cache does not have it. Refuses an archive whose digest differs. */
  async find(digest: string, what: string): Promise<string | undefined> {
    const path = this.#path(digest);
    if (!(await exists(path))) return undefined;
    await verifyDigest(path, digest, what);
    return path;
  }

  /** `write` makes a file at the path it is given and says its digest. */
  async make(write: (path: string) => Promise<string>): Promise<{ path: string; digest: string }> {
    await mkdir(this.#dir, { recursive: true });
    const partial = join(this.#dir, `.slipway-${this.#random.hex(8)}`);
    try {
      const digest = await write(partial);
      const path = this.#path(digest);
      await rename(partial, path);
      return { path, digest };
    } finally {
      await rm(partial, { force: true });
    }
  }

  /** Takes in what `write` puts at the path it is given, if it is what the digest says. */
  async take(write: (to: string) => Promise<void>, digest: string, what: string): Promise<string> {
    const { path } = await this.make(async (to) => {
      await write(to);
      await verifyDigest(to, digest, what);
      return digest;
    });
    return path;
  }

  #path(digest: string): string {
    if (!/^[0-9A-Za-z:;]+$/.test(digest))
      throw BadReleaseFile({ file: "an index", problems: ["it has a digest that is none"] });
    return join(this.#dir, digest);
  }
}
