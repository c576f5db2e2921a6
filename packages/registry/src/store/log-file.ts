import { type FileHandle, open, stat } from "node:fs/promises";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { systemCode } from "@slipway/kernel/errors";
import { type Change, FIRST_LINE } from "./record.ts";
import { replay } from "./replay.ts";

/**
 * An append-only file. `append` resolves when the bytes are on disk; when it rejects they are not part of the log, and
 * if that cannot be made sure the log is `damaged` and takes nothing until `replace` has put a whole new one in place.
 */
export class LogFile {
  readonly path: string;
  #file: FileHandle;
  #length: number;
  #damaged = false;

  private constructor(path: string, file: FileHandle, length: number) {
    this.path = path;
    this.#file = file;
    this.#length = length;
  }

  /** Opens the log or begins one. A torn tail is copied to the file `asideFor` names and then cut off. */
  static async open(path: string, asideFor: () => string, apply: (change: Change) => void): Promise<LogFile> {
    const file = await openOrBegin(path);
    try {
      // A file put back from a backup may be readable by others; it holds passwords.
      if (((await file.stat()).mode & 0o077) !== 0) await file.chmod(0o600);
      const { length, torn } = await replay(file, path, apply);
      if (torn !== undefined) {
        await writeFileAtomic(asideFor(), torn);
        await file.truncate(length);
        await file.sync();
      }
      return new LogFile(path, file, length);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get length(): number {
    return this.#length;
  }

  get damaged(): boolean {
    return this.#damaged;
  }

  async append(line: Buffer): Promise<void> {
    try {
      await writeAll(this.#file, line, this.#length);
    } catch (error) {
      await this.#cut();
      throw error;
    }
    try {
      await this.#file.datasync();
    } catch (error) {
      // After a failed sync the kernel may believe pages to be written that are not: trust none of them.
      this.#damaged = true;
      await this.#cut();
      throw error;
    }
    this.#length += line.length;
  }

  /** Puts a log with this content in the place of the present one, in one step. */
  async replace(lines: readonly Buffer[]): Promise<void> {
    const content = Buffer.concat([Buffer.from(`${FIRST_LINE}\n`), ...lines]);
    try {
      await writeFileAtomic(this.path, content);
    } catch (error) {
      // It may have failed after the rename; what we hold open is then no longer the log.
      if (!(await this.#isCurrent())) this.#damaged = true;
      throw error;
    }
    this.#damaged = true;
    const old = this.#file;
    this.#file = await open(this.path, "r+");
    this.#length = content.length;
    this.#damaged = false;
    await old.close();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #cut(): Promise<void> {
    try {
      await this.#file.truncate(this.#length);
    } catch {
      this.#damaged = true;
    }
  }

  async #isCurrent(): Promise<boolean> {
    try {
      const [held, there] = await Promise.all([this.#file.stat(), stat(this.path)]);
      return held.ino === there.ino && held.dev === there.dev;
    } catch {
      return false;
    }
  }
}

async function openOrBegin(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r+");
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
  }
  await writeFileAtomic(path, `${FIRST_LINE}\n`);
  return await open(path, "r+");
}

/** One write may take fewer bytes than it was given, for example just before the disk is full. */
async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}
