import { systemClock } from "@slipway/kernel/clock";
import { freshDatabase } from "@slipway/testkit/database";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Lease } from "../store/lease.ts";
import type { Db } from "../store/schema.ts";
import { type OutputOptions, readOutput, TaskOutput } from "./output.ts";
import { claim, release } from "./queue.ts";
import { type Shaking, shakyDb } from "./testing/shaky-db.ts";
import { queued, textOf } from "./testing/stage.ts";

let db: Db;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await freshDatabase());
});
afterAll(() => close());

async function leased(): Promise<Lease> {
  await queued(db);
  return again();
}
async function again(): Promise<Lease> {
  const options = { owner: "d", leaseMs: 60_000, types: [], others: true, running: [...used], alone: false };
  const task = await claim(db, options);
  if (task === undefined) throw new Error("nothing to take");
  used.add(task.lease.taskId);
  return task.lease;
}
const used = new Set<number>();

const open = (lease: Lease, over: Partial<OutputOptions> = {}) =>
  TaskOutput.open(db, lease, {
    clock: systemClock,
    onLost: () => {
      throw new Error("the lease was lost");
    },
    onError: (error) => {
      throw error;
    },
    ...over,
  });

const pieces = (id: number, type: string) =>
  db
    .selectFrom("task_output")
    .select(["start", "data"])
    .where("task_id", "=", id)
    .where("type", "=", type)
    .orderBy("start")
    .execute();

/** A character in two halves. */
const HALVES = ["a\ud83d", "\ude00b"].map((text) => ({ text, flush: true, crash: false }));

describe("the output of a task", () => {
  it("reads the same from every byte on, however it was written, and no piece splits a character", async () => {
    const chunk = fc.record({
      text: fc.string({ unit: fc.constantFrom("a", "\n", "ü", "€", "😀", "\ud83d", "\ude00"), maxLength: 8 }),
      flush: fc.boolean(),
      crash: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 8 }), async (chunks) => {
        let lease = await leased();
        let output = await open(lease);
        for (const { text, flush, crash } of chunks) {
          output.append("cpi", text);
          if (flush) await output.flush();
          if (crash) {
            // Another run begins; what this one still has in hand is written first, as at a stop.
            await output.flush(true);
            await release(db, lease);
            used.delete(lease.taskId);
            lease = await again();
            output = await open(lease);
          }
        }
        await output.flush(true);
        const stored = (await pieces(lease.taskId, "cpi")).map((piece) => piece.data);
        for (const piece of stored) expect(Buffer.from(piece.toString())).toEqual(piece);
        const whole = Buffer.concat(stored);
        if (!chunks.some((one) => one.crash))
          expect(whole.toString()).toBe(
            chunks
              .map((one) => one.text)
              .join("")
              .replace(/\p{Surrogate}/gu, "\ufffd"),
          );
        for (let from = 0; from <= whole.length + 1; from++) {
          const read = await readOutput(db, lease.taskId, "cpi", from);
          expect(read.size).toBe(whole.length);
          expect(read.data.equals(whole.subarray(from))).toBe(true);
        }
      }),
      { numRuns: tries(25), examples: [[HALVES]] },
    );
  });

  it("is empty before anything was written, and of a task that is not", async () => {
    const { taskId } = await leased();
    for (const id of [taskId, 999_999])
      expect(await readOutput(db, id, "debug", 5)).toEqual({ data: Buffer.alloc(0), size: 0 });
  });

  it("is written a short while after it came, several lines at once", async () => {
    const clock = fakeClock();
    const { taskId, ...lease } = await leased();
    const output = await open({ taskId, ...lease }, { clock, flushMs: 100 });
    output.append("event", "one\n");
    output.append("debug", "d\n");
    await clock.advance(99);
    output.append("event", "two\n");
    expect(await textOf(db, taskId, "event")).toBe("");
    await clock.advance(1);
    await expect.poll(() => textOf(db, taskId, "event")).toBe("one\ntwo\n");
    expect(await textOf(db, taskId, "debug")).toBe("d\n");
    expect(await pieces(taskId, "event")).toHaveLength(1);
    expect(clock.waiting).toBe(0);
  });

  it("does not wait for the clock once there is much of it", async () => {
    const clock = fakeClock();
    const lease = await leased();
    const output = await open(lease, { clock, flushMs: 1e9 });
    output.append("debug", "x".repeat(100_000));
    await clock.advance(0);
    await expect.poll(async () => (await readOutput(db, lease.taskId, "debug")).size).toBe(100_000);
  });

  it("keeps its beginning and its end where there is too much of it, and the event log whole", async () => {
    const lease = await leased();
    const output = await open(lease, { limitBytes: 600 });
    const lines = Array.from({ length: 80 }, (_, at) => `${at} costs a €uro\n`);
    for (const [at, line] of lines.entries()) {
      for (const type of ["debug", "cpi", "event"] as const) output.append(type, line);
      if (at % 7 === 0) await output.flush();
    }
    await output.flush(true);
    // The end is known when the task is over.
    const early = await textOf(db, lease.taskId, "debug");
    expect(lines.join("")).toMatch(new RegExp(`^${early}`));
    await output.end();
    for (const type of ["debug", "cpi"] as const) {
      const text = await textOf(db, lease.taskId, type);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(600);
      const note = /^(.*)\n\[cut here: no more than 600 bytes are kept; (\d+) bytes are left out\]\n(.*)$/s;
      const [, head = "", dropped = "", tail = ""] = note.exec(text) ?? [];
      expect(lines.join("").startsWith(head)).toBe(true);
      expect(lines.join("").endsWith(tail)).toBe(true);
      expect(tail).toMatch(/^\d+ costs/);
      const sizes = [head, tail].map((part) => Buffer.byteLength(part));
      expect(sizes[0]).toBeGreaterThan(300);
      expect(sizes[1]).toBeGreaterThan(100);
      expect((sizes[0] ?? 0) + Number(dropped) + (sizes[1] ?? 0)).toBe(Buffer.byteLength(lines.join("")));
    }
    expect(await textOf(db, lease.taskId, "event")).toBe(lines.join(""));
  });

  it("stays within its limit however often the task is interrupted, and has the end of the last run", async () => {
    const lease = await leased();
    for (const run of ["first", "second", "third"]) {
      const output = await open(lease, { limitBytes: 600 });
      for (let i = 0; i < 60; i++) output.append("debug", `${run} ${i}: 😀\n`);
      if (run === "third") await output.end();
      else await output.flush(true);
      output.close();
    }
    const text = await textOf(db, lease.taskId, "debug");
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(600);
    expect(text).toMatch(/^first 0: 😀\n.*\[cut here.*\nthird 59: 😀\n$/s);
    const more = await open(lease, { limitBytes: 600 });
    for (let i = 0; i < 60; i++) more.append("debug", "an end that could not be written, once more\n");
    await more.end();
    expect(await textOf(db, lease.taskId, "debug")).toBe(text);
  });

  it("is not written after its run was taken over, and the run is notified", async () => {
    const old = await leased();
    let lost = 0;
    const before = await open(old, { onLost: () => (lost += 1) });
    before.append("event", "before\n");
    await before.flush();
    await release(db, old);
    used.delete(old.taskId);
    const after = await open(await again());
    before.append("event", "too late\n");
    await before.flush();
    before.append("event", "later still\n");
    await before.flush();
    after.append("event", "after\n");
    await after.flush();
    expect(await textOf(db, old.taskId, "event")).toBe("before\nafter\n");
    expect(lost).toBe(1);
  });

  it("is written once when the database is back, if the write failed or its outcome is unknown", async () => {
    const lease = await leased();
    let mode: Shaking = "works";
    const shaky = shakyDb(db, () => mode);
    const output = await TaskOutput.open(shaky, lease, {
      clock: fakeClock(),
      onLost: () => undefined,
      onError: () => undefined,
    });
    for (const next of ["refuses", "forgets to answer", "works"] as const) {
      mode = next;
      output.append("event", `${next}\n`);
      if (next === "works") await output.flush();
      else await expect(output.flush()).rejects.toThrow("no connection");
    }
    expect(await textOf(db, lease.taskId, "event")).toBe("refuses\nforgets to answer\nworks\n");
  });
});
