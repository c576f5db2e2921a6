import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readStat } from "./procfs.ts";
import { UsageReader } from "./usage.ts";

/** Bytes that this process has read so far. */
const bytesRead = (): number => Number(/rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
const LITTLE = 2000;

it("reads no process of the machine if none is watched", () => {
  const before = bytesRead();
  expect(new UsageReader().read([], 0).size).toBe(0);
  expect(bytesRead() - before).toBeLessThan(LITTLE);
});

it("measures processor time again after a time without processes", () => {
  const own = readStat(process.pid);
  if (own === undefined) throw new Error("/proc has no entry for this process");
  const reader = new UsageReader();
  reader.read([own], 1000);
  reader.read([], 2000);
  expect(reader.read([own], 3000).get(process.pid)?.cpu).toBe(0);
  expect(reader.read([own], 4000).get(process.pid)?.kb).toBeGreaterThan(0);
});
