import { embed } from "@slipway/cpi-sdk/embed";
import type { CpiRequest } from "@slipway/protocol/cpi/envelope";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { cloudCpi, MemoryCloud } from "@slipway/testkit/memory-cloud";
import { latch } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { CpiLost } from "./cloud.ts";
import { type EmbeddedCpi, embeddedCpiPort } from "./embedded-cpi.ts";
import { CpiAnswerUnusable, CpiStopped } from "./errors.ts";
import { logBook, OK, request } from "./testing/cpi-files.ts";

const REBOOT = request("reboot_vm", ["vm-1"]);

function portOf(open: EmbeddedCpi["open"]) {
  const clock = fakeClock();
  const port = embeddedCpiPort({ name: "memory", clock, open, graceMs: 5000 });
  const book = logBook();
  const call = (sent: CpiRequest, signal?: AbortSignal) =>
    port.call(sent, { deadlineMs: 60_000, signal, log: book.log, hide: (text) => text });
  return { clock, call, book, port };
}

const failure = async (work: Promise<unknown>): Promise<unknown> =>
  await work.then(
    () => expect.fail("it worked"),
    (error: unknown) => error,
  );

describe("a CPI in this process", () => {
  it("answers as an executable does, and its log comes while it works", async () => {
    const working = latch();
    const go = latch();
    const cpi = cloudCpi(new MemoryCloud(), {
      methods: {
        rebootVm: async (_, { log }) => {
          log.info("restarting");
          working.open();
          await go.opened;
        },
      },
    });
    const { call, book, port } = portOf((around) => embed(cpi, around));
    expect(port.command).toBe("memory (in this process)");
    const called = call(REBOOT);
    await working.opened;
    expect(book.text).toMatch(/INFO \[cpi-1\] reboot_vm: restarting\n$/);
    go.open();
    expect(await called).toMatchObject({ result: null, error: null });
  });

  it("gets and gives copies: neither side can change what the other holds", async () => {
    const sent = request("set_vm_metadata", ["vm-1", { a: "b", left: undefined }]);
    const mine = JSON.parse(OK) as { result: unknown };
    mine.result = { held: true };
    let seen: unknown;
    const { call } = portOf(() => ({
      request: async (given) => {
        seen = given;
        return mine as never;
      },
    }));
    const reply = await call(sent);
    expect(seen).toEqual(JSON.parse(JSON.stringify(sent)));
    expect(seen).not.toBe(sent);
    expect(reply.result).toEqual(mine.result);
    expect(reply.result).not.toBe(mine.result);
  });

  const CREATE = request("create_disk", [1, {}, null]);

  it("is stopped at its deadline; what it says then is kept, but is not taken for the whole truth", async () => {
    const working = latch();
    const createDisk = () => {
      working.open();
      return new Promise<string>(() => {});
    };
    const cpi = cloudCpi(new MemoryCloud(), { methods: { createDisk }, graceMs: 1000 });
    const { call, clock } = portOf((around) => embed(cpi, around));
    const called = failure(call(CREATE));
    await working.opened;
    await clock.advance(60_000);
    await clock.advance(2000);
    const error = await called;
    expect(error).toBeInstanceOf(CpiLost);
    expect((error as Error).message).toMatch(/no answer within 60 s in 'create_disk' .*its last word: /);
    expect(CpiStopped.is((error as Error).cause)).toBe(true);
  });

  it("stops waiting after the grace time for a CPI that does not stop", async () => {
    const { call, clock } = portOf(() => ({ request: () => new Promise(() => {}) }));
    const called = failure(call(CREATE));
    await clock.advance(60_000);
    await clock.advance(5000);
    expect(await called).toBeInstanceOf(CpiLost);
    expect(clock.waiting).toBe(0);
  });

  it("is stopped when the task is cancelled, and not begun after that", async () => {
    let calls = 0;
    const { call, clock } = portOf(() => ({
      request: () => {
        calls += 1;
        return new Promise(() => {});
      },
    }));
    const stop = new AbortController();
    const called = failure(call(CREATE, stop.signal));
    const reason = new Error("by admin");
    stop.abort(reason);
    await clock.advance(5000);
    const error = await called;
    expect(error).toBeInstanceOf(CpiLost);
    expect((error as Error).message).toContain("the task was cancelled");
    expect(((error as Error).cause as Error).cause).toBe(reason);
    expect(await failure(call(CREATE, stop.signal))).toBe(reason);
    expect(calls).toBe(1);
  });

  it("returns the result of a CPI that finishes although it was asked to stop", async () => {
    const { call } = portOf(({ signal }) => ({
      request: () =>
        new Promise((resolve) => signal?.addEventListener("abort", () => resolve(JSON.parse(OK) as never))),
    }));
    const stop = new AbortController();
    const called = call(CREATE, stop.signal);
    stop.abort(new Error("by admin"));
    expect((await called).result).toBe(true);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("out of coffee")), /The CPI failed: out of coffee/],
    ["answers what no CPI answers", async () => ({ result: 1 }), /SchemaValidationError: /],
    ["answers with a circle", async () => Object.assign([], { 0: 1n }), /The CPI failed: /],
  ])("a CPI that %s is lost", async (_, answer, words) => {
    const { call } = portOf(() => ({ request: answer as never }));
    const error = await failure(call(CREATE));
    expect(error).toBeInstanceOf(CpiLost);
    expect((error as Error).message).toMatch(words);
    expect(CpiAnswerUnusable.is((error as Error).cause)).toBe(true);
  });
});
