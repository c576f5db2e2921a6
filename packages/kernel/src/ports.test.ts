import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { freePort, isTaken } from "./ports.ts";
import { systemRandom } from "./random.ts";

describe("a port", () => {
  it("is taken while somebody listens on it, at that address", async () => {
    const port = await freePort(systemRandom);
    expect(await isTaken("127.0.0.1", port)).toBe(false);
    const server = createServer().listen(port, "127.0.0.1");
    await once(server, "listening");
    try {
      expect(await isTaken("127.0.0.1", port)).toBe(true);
      expect(await isTaken("127.0.0.2", port)).toBe(false);
      // The same chance again: it goes on to another one.
      const from = (port - 10_240) / (32_000 - 10_240);
      const chances = [from + 1e-9, 0.5];
      const loaded = { ...systemRandom, fraction: () => chances.shift() ?? systemRandom.fraction() };
      expect(await freePort(loaded)).not.toBe(port);
    } finally {
      server.close();
    }
  });
});
