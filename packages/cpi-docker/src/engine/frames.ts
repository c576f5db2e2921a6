import type { HttpReply } from "@slipway/kernel/http/client";
import { bytesOf } from "./http.ts";

const HEADER = 8;

export interface Frame {
  readonly from: "stdout" | "stderr";
  readonly text: string;
}

/** Both outputs of a program come on one stream, in frames: which of the two, three zeros, the length, the bytes. */
export class Frames {
  #rest: Buffer = Buffer.alloc(0);

  /** Adds a piece and returns the frames that it completes. */
  take(piece: Uint8Array): readonly Frame[] {
    this.#rest = Buffer.concat([this.#rest, piece]);
    const whole: Frame[] = [];
    while (this.#rest.length >= HEADER) {
      const end = HEADER + this.#rest.readUInt32BE(4);
      if (this.#rest.length < end) break;
      const text = this.#rest.subarray(HEADER, end).toString("utf8");
      whole.push({ from: this.#rest[0] === 2 ? "stderr" : "stdout", text });
      this.#rest = this.#rest.subarray(end);
    }
    return whole;
  }
}

export async function* framesOf(reply: HttpReply): AsyncGenerator<Frame> {
  const frames = new Frames();
  for await (const piece of bytesOf(reply)) yield* frames.take(piece);
}
