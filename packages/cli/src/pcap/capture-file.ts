import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { messageTrail } from "@slipway/kernel/errors";
import type { Random } from "@slipway/kernel/random";
import { FileFailed } from "./errors.ts";

export interface CaptureFile {
  /** How many are in it. */
  readonly packets: number;
  /** Behind all that is there. What is only partly written, because the disk is full, does not count. */
  write(bytes: Buffer, packets: number): Promise<void>;
  /** Renames the file to its final name, replacing an existing one. */
  keep(): Promise<void>;
  /** Deletes the file, unless it was kept. */
  drop(): Promise<void>;
}

/**
 * Writes to a file beside the final one until it is whole. Creates it at once, so that a capture is not begun in vain. Only
 * the owner may read it.
 */
export async function openCaptureFile(path: string, random: Random): Promise<CaptureFile> {
  const part = `${path}.${random.hex(4)}.part`;
  const failed = (cause: unknown) => FileFailed({ path, why: messageTrail(cause) }, { cause });
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const file = await open(part, flags, 0o600).catch((cause: unknown) => {
    throw failed(cause);
  });
  let [whole, count] = [0, 0];
  let isOpen = true;
  let last: Promise<void> = Promise.resolve();
  return {
    get packets() {
      return count;
    },
    write: (bytes, packets) => {
      // After one that failed nothing is written: the next one would stand behind half a packet.
      last = last.then(async () => {
        await file.writeFile(bytes).catch((cause: unknown) => {
          throw failed(cause);
        });
        whole += bytes.length;
        count += packets;
      });
      return last;
    },
    keep: async () => {
      await last.catch(() => undefined);
      try {
        await file.truncate(whole);
        await file.close();
        isOpen = false;
        await rename(part, path);
      } catch (cause) {
        throw failed(cause);
      }
    },
    drop: async () => {
      if (isOpen) await file.close();
      isOpen = false;
      await rm(part, { force: true });
    },
  };
}
