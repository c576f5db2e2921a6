import { describe, expect, it } from "vitest";
import { addressOctet } from "./address-octet.ts";

const PIDS = Array.from({ length: 1000 }, (_, pid) => pid + 1);

describe("a worker's own octet", () => {
  it("is one that an address may have and that stays as it is written in IPv6: from 1 to 250", () => {
    const all = PIDS.flatMap((pid) => [1, 2, 10, 11].map((worker) => addressOctet(worker, pid)));
    expect(Math.min(...all)).toBe(1);
    expect(Math.max(...all)).toBe(250);
  });

  it("is no other worker's, whatever their process numbers", () => {
    const of = (worker: number) => new Set(PIDS.map((pid) => addressOctet(worker, pid)));
    expect([...of(1)].filter((octet) => of(2).has(octet))).toEqual([]);
  });

  it("is this worker's", () => {
    expect(process.env.VITEST_POOL_ID).toMatch(/^\d+$/);
    expect(addressOctet()).toBe(addressOctet(Number(process.env.VITEST_POOL_ID), process.pid));
  });
});
