import { fakeClock } from "@slipway/testkit/fake-clock";
import { expect, it } from "vitest";
import { lineLog } from "./log.ts";

it("the log limits repeated lines to a few, and one that counts the rest", async () => {
  const clock = fakeClock({ start: 0 });
  const lines: string[] = [];
  const log = lineLog(clock, (line) => lines.push(line));
  for (let nth = 0; nth < 1000; nth++) log.warn("a TLS handshake failed: no certificate");
  log.error("a TLS handshake failed: no certificate");
  await clock.advance(61_000);
  log.info("ready");
  expect(lines.map((line) => line.slice(25, -1))).toEqual([
    ...Array(10).fill("WARN a TLS handshake failed: no certificate"),
    "ERROR a TLS handshake failed: no certificate",
    "WARN a TLS handshake failed: no certificate (repeated 990 times)",
    "INFO ready",
  ]);
});
