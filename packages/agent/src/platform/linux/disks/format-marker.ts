import { createHash } from "node:crypto";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { ifThere } from "@slipway/kernel/files";
import type { Paths } from "../../../paths.ts";
import { type BlockDevice, identityOf } from "./block-device.ts";

/**
 * Remembers that the agent has begun to erase and format a disk.
 *
 * A mke2fs or sfdisk that was killed leaves a disk that is neither empty nor holds anything: by its content alone it
 * cannot be told from a disk with somebody's raw data, so it would be refused for ever. The note is written, durably,
 * before the first byte of the disk is changed, and only ever for a disk that was seen to be empty or ours; it is
 * removed when the file system is complete, which is before anything can be mounted and written to it. So while it is
 * there, an unrecognisable content is our own unfinished work, and beginning again loses nothing.
 *
 * It does not stand above what can be read of the disk: a complete file system is kept and a foreign signature is
 * refused, note or not. It counts only for the same disk: same cid, same size, same serial number or file. It cannot
 * lie on the disk itself, as mkfs wipes both ends and may discard all between; if the VM is deleted in the middle of a
 * mkfs the note is lost with it, and the next VM refuses the disk with an explanation instead of guessing.
 */
export class FormatMarker {
  readonly #path: string;
  readonly #directory: string;
  readonly #what: string;

  constructor(paths: Paths, what: string) {
    this.#what = what;
    this.#directory = join(paths.boshDir, "formatting");
    this.#path = join(
      this.#directory,
      `${createHash("sha256").update(what).digest("hex").slice(0, 32)}.json`,
    );
  }

  async begin(device: BlockDevice): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await writeFileAtomic(this.#path, await this.#note(device));
  }

  async covers(device: BlockDevice): Promise<boolean> {
    const noted = await ifThere(readFile(this.#path, "utf8"));
    return noted !== undefined && noted === (await this.#note(device));
  }

  async end(): Promise<void> {
    await rm(this.#path, { force: true });
  }

  async #note(device: BlockDevice): Promise<string> {
    return JSON.stringify({ disk: this.#what, bytes: device.bytes, identity: await identityOf(device) });
  }
}
