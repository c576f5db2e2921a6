import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { expect, it } from "vitest";
import { Tail } from "./tail.ts";

it("is the end of what was added, in whole characters and lines, and says how much it is not", () => {
  const part = fc.string({ unit: fc.constantFrom("a", "\n", "ü", "€", "😀"), maxLength: 12 });
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), fc.integer({ min: 1, max: 60 }), (parts, most) => {
      const tail = new Tail(most);
      for (const one of parts) tail.add(one);
      const { text, dropped } = tail.taken();
      const all = parts.join("");
      expect(all.endsWith(text)).toBe(true);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(most);
      expect(Buffer.byteLength(all) - Buffer.byteLength(text)).toBe(dropped);
      if (Buffer.byteLength(all) <= most) expect(text).toBe(all);
      // It begins with a line, unless its only line is too long.
      else if (text.slice(0, -1).includes("\n"))
        expect(all.slice(0, all.length - text.length)).toMatch(/\n$/);
    }),
    { numRuns: tries(1000) },
  );
});
