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
  /** It gets its name, and replaces what had that. */
  keep(): Promise<void>;
  /** Nothing stays of it, unless it was kept. */
  drop(): Promise<void>;
}

/** Beside its place until it is whole; made at once, so that nothing is begun in vain. Packets are nobody else's business. */
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
