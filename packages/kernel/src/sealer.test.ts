import { expect, it } from "vitest";
import { systemRandom } from "./random.ts";
import { KEY_BYTES, sealerOf } from "./sealer.ts";

const sealer = (byte: number) => sealerOf(Buffer.alloc(KEY_BYTES, byte), systemRandom);

it("hashes the same text to the same hash with the same key only", () => {
  expect(sealer(1).keyedHash("1234")).toBe(sealer(1).keyedHash("1234"));
  expect(sealer(1).keyedHash("1234")).not.toBe(sealer(2).keyedHash("1234"));
  expect(sealer(1).keyedHash("1234")).not.toBe(sealer(1).keyedHash("1235"));
});
