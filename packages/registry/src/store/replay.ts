import type { FileHandle } from "node:fs/promises";
import { LogCorrupt, LogFormatUnknown } from "../errors.ts";
import { type Change, FIRST_LINE, readCommit } from "./record.ts";

const CHUNK = 1 << 20;
const LINE_FEED = 0x0a;

export interface Replayed {
  /** Bytes that are good; what follows is the torn tail. */
  readonly length: number;
  readonly torn: Buffer | undefined;
}

/**
 * Reads a log from its start. A last line that is incomplete was never acknowledged and is handed back as torn; a bad
 * line with others behind it is an error, because nobody can say what it held.
 */
export async function replay(
  file: FileHandle,
  path: string,
  apply: (change: Change) => void,
): Promise<Replayed> {
  let number = 0;
  let offset = 0;
  for await (const line of linesOf(file)) {
    number++;
    const next = offset + line.bytes.length + 1;
    if (number === 1) {
      if (!line.ended || line.bytes.toString("latin1") !== FIRST_LINE) throw LogFormatUnknown({ path });
    } else {
      const commit = line.ended ? readCommit(line.bytes) : "it is incomplete";
      if (typeof commit === "string") {
        if (!line.last) throw LogCorrupt({ path, line: number, offset, why: commit });
        return {
          length: offset,
          torn: line.ended ? Buffer.concat([line.bytes, Buffer.of(LINE_FEED)]) : line.bytes,
        };
      }
      commit.forEach(apply);
    }
    offset = next;
  }
  if (number === 0) throw LogFormatUnknown({ path });
  return { length: offset, torn: undefined };
}

interface Line {
  readonly bytes: Buffer;
  /** It had its line feed. */
  readonly ended: boolean;
  readonly last: boolean;
}

async function* linesOf(file: FileHandle): AsyncGenerator<Line> {
  const { size } = await file.stat();
  let position = 0;
  let parts: Buffer[] = [];
  while (position < size) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, position);
    if (bytesRead === 0) break;
    const chunk = buffer.subarray(0, bytesRead);
    let start = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, start)) {
      parts.push(chunk.subarray(start, at));
      start = at + 1;
      yield { bytes: Buffer.concat(parts), ended: true, last: position + start >= size };
      parts = [];
    }
    if (start < bytesRead) parts.push(chunk.subarray(start));
    position += bytesRead;
  }
  if (parts.length > 0) yield { bytes: Buffer.concat(parts), ended: false, last: true };
}
