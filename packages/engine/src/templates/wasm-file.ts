import { type FileHandle, open } from "node:fs/promises";
import { DATA_SECTION, HEADER, number, ROOM, readNumber, section } from "./wasm-memory.ts";

/** Bytes of a file that belong at an offset of the memory. */
export interface DataRun {
  readonly file: number;
  readonly memory: number;
  readonly length: number;
}

/** Tells whether a file is still the one that was read before. */
export type FileIdentity = string;

/** Longer than the header of a section, and than all sections before the code. */
const CHUNK = 65_536;
const PASSIVE = 0x01;
const CONSTANT = 0x41;
const END = 0x0b;

/**
 * A WebAssembly module on the disk. Most of ours is data: the files of Ruby's standard library. Reading these straight into the
 * memory of an instance spares V8 two copies, of which it would keep one.
 */
export class WasmFile {
  readonly #handle: FileHandle;
  readonly size: number;
  readonly identity: FileIdentity;

  private constructor(handle: FileHandle, size: number, identity: FileIdentity) {
    this.#handle = handle;
    this.size = size;
    this.identity = identity;
  }

  static async open(path: string): Promise<WasmFile> {
    const handle = await open(path);
    const { dev, ino, size, mtimeMs } = await handle.stat();
    return new WasmFile(handle, size, `${dev} ${ino} ${size} ${mtimeMs}`);
  }

  /** Its descriptor, for reading without waiting. */
  get fd(): number {
    return this.#handle.fd;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** Reads the module with all segments of data empty, behind `ROOM` free bytes. */
  async code(): Promise<Uint8Array<ArrayBuffer>> {
    const { start, body, end } = await this.#data();
    const count = readNumber(await this.#read(body, Math.min(CHUNK, end - body)), 0).value;
    const empty = Buffer.alloc(2 * count);
    for (let at = 0; at < empty.length; at += 2) empty[at] = PASSIVE;
    const data = Buffer.concat(section(DATA_SECTION, [Uint8Array.from(number(count)), empty]));
    const bytes = new Uint8Array(new ArrayBuffer(ROOM + start + data.length));
    await this.#fill(bytes, ROOM, 0, start);
    bytes.set(data, ROOM + start);
    return bytes;
  }

  /** Returns the segments of data that an instance begins with, by their place in the file. */
  async runs(): Promise<readonly DataRun[]> {
    const { body, end } = await this.#data();
    const bytes = await this.#read(body, end - body);
    const count = readNumber(bytes, 0);
    const runs: DataRun[] = [];
    let at = count.next;
    for (let left = count.value; left > 0; left--) {
      const passive = bytes[at] === PASSIVE;
      let memory = 0;
      at += 1;
      if (!passive) {
        const offset = readNumber(bytes, at + 1);
        if (bytes[at - 1] !== 0 || bytes[at] !== CONSTANT || bytes[offset.next] !== END)
          throw new Error("this module's data has no fixed place");
        memory = offset.value;
        at = offset.next + 1;
      }
      const length = readNumber(bytes, at);
      // Data without a place is copied by the code, which must find it.
      if (passive && length.value > 0) throw new Error("this module has data without a place");
      if (length.value > 0) runs.push({ file: body + length.next, memory, length: length.value });
      at = length.next + length.value;
    }
    return runs;
  }

  async #data(): Promise<{ readonly start: number; readonly body: number; readonly end: number }> {
    let chunk = await this.#read(0, Math.min(CHUNK, this.size));
    let from = 0;
    for (let start = HEADER; start < this.size; ) {
      if (start - from > chunk.length - 16) {
        from = start;
        chunk = await this.#read(from, Math.min(16, this.size - from));
      }
      const size = readNumber(chunk, start - from + 1);
      const body = from + size.next;
      if (chunk[start - from] === DATA_SECTION) return { start, body, end: body + size.value };
      start = body + size.value;
    }
    throw new Error("this module has no data");
  }

  async #read(from: number, length: number): Promise<Uint8Array> {
    const bytes = Buffer.allocUnsafeSlow(length);
    await this.#fill(bytes, 0, from, length);
    return bytes;
  }

  async #fill(bytes: Uint8Array, at: number, from: number, length: number): Promise<void> {
    for (let done = 0; done < length; ) {
      const { bytesRead } = await this.#handle.read(bytes, at + done, length - done, from + done);
      if (bytesRead === 0) throw new Error("the WebAssembly file is cut off");
      done += bytesRead;
    }
  }
}
