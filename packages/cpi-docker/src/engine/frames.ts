import type { HttpReply } from "@slipway/kernel/http/client";
import { bytesOf } from "./http.ts";

const HEADER = 8;

/** Both outputs of a program come on one stream, in frames: which of the two, three zeros, the length, the bytes. */
export async function* framesOf(
  reply: HttpReply,
): AsyncGenerator<{ readonly from: "stdout" | "stderr"; readonly text: string }> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of bytesOf(reply)) {
    rest = Buffer.concat([rest, piece]);
    while (rest.length >= HEADER) {
      const end = HEADER + rest.readUInt32BE(4);
      if (rest.length < end) break;
      yield { from: rest[0] === 2 ? "stderr" : "stdout", text: rest.subarray(HEADER, end).toString("utf8") };
      rest = rest.subarray(end);
    }
  }
}
