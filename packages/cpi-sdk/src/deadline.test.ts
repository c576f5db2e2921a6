import { fakeClock } from "@slipway/testkit/fake-clock";
import { cloudCpi, MemoryCloud, makeVm } from "@slipway/testkit/memory-cloud";
import { ask, errorOf, resultOf, typeOf, vmArgs } from "@slipway/testkit/requests";
import { latch, tempDir } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";
import { undoStage, usual } from "./testing/undo-stage.ts";

const CREATE = ask("create_vm", vmArgs());

describe("at the deadline", () => {
  it("the signal stops the author's method, and what it had made is undone", async () => {
    const clock = fakeClock();
    const started = latch();
    const { cpi, done } = undoStage({
      deadlinesMs: { create_vm: 1000, default: 1 },
      createVm: (cloud, done) => async (args, call) => {
        await usual(cloud, done)(args, call);
        started.open();
        await new Promise((_, reject) =>
          call.signal.addEventListener("abort", () => reject(call.signal.reason)),
        );
        throw new Error("unreachable");
      },
    });
    const reply = embed(cpi, { clock }).request(CREATE);
    await started.opened;
    await clock.advance(1000);
    const error = errorOf(await reply);
    expect(error).toMatchObject({ type: typeOf("CloudError"), ok_to_retry: false });
    expect(error.message).toContain("create_vm did not finish within 1 s");
    expect(error.message).not.toContain("left behind");
    expect(done).toEqual(["undo 2", "undo 1"]);
  });

  it("a VM that came within the grace is removed, with a signal that is not aborted", async () => {
    const clock = fakeClock();
    const [started, gate] = [latch(), latch()];
    let aborted: boolean | undefined;
    const { cpi, cloud } = undoStage({
      deadlinesMs: { default: 1000 },
      methods: {
        deleteVm: ({ vmCid }, call) => {
          aborted = call.signal.aborted;
          cloud.vms.delete(vmCid);
        },
      },
      createVm: (cloud) => async (args, call) => {
        started.open();
        await gate.opened;
        return makeVm(cloud, args, call);
      },
    });
    const reply = embed(cpi, { clock }).request(CREATE);
    await started.opened;
    await clock.advance(1000);
    gate.open();
    expect(errorOf(await reply).message).toContain("did not finish within 1 s");
    expect(cloud.vms.size).toBe(0);
    expect(aborted).toBe(false);
  });

  it("a method that never stops is given up after the grace, reported and remembered; a late result is removed", async () => {
    const clock = fakeClock();
    const [started, gate, removed] = [latch(), latch(), latch()];
    const repeats: boolean[] = [];
    const dir = await tempDir();
    const { cpi, cloud, done } = undoStage({
      deadlinesMs: { default: 1000 },
      graceMs: 5000,
      methods: {
        deleteVm: ({ vmCid }) => {
          cloud.vms.delete(vmCid);
          removed.open();
        },
      },
      createVm: (cloud, done) => async (args, call) => {
        repeats.push(call.repeated);
        if (call.repeated) return makeVm(cloud, args, call);
        call.cleanup(() => void done.push("early undo"));
        started.open();
        await gate.opened;
        call.cleanup(() => void done.push("late undo"));
        return makeVm(cloud, args, call);
      },
    });
    const client = embed(cpi, { clock, config: { cloud: { state_dir: dir } } });
    const request = ask("create_vm", vmArgs(), { requestId: "cpi-1" });
    const reply = client.request(request);
    await started.opened;
    await clock.advance(1000);
    await clock.advance(5000);
    const { message } = errorOf(await reply);
    expect(message).toMatch(
      /did not finish within 1 s.*left behind \(token [0-9a-f]{32}\): it was still at work 5 s after/,
    );
    expect(done).toEqual(["early undo"]);
    gate.open();
    await removed.opened;
    expect(cloud.vms.size).toBe(0);
    await expect.poll(() => done).toEqual(["early undo", "late undo"]);
    resultOf(await client.request(request));
    expect(repeats).toEqual([false, true]);
  });

  it("a repeat whose has_vm never answers is answered all the same", async () => {
    const clock = fakeClock();
    const asked = latch();
    const { cpi } = undoStage({
      deadlinesMs: { default: 1000 },
      createVm: usual,
      methods: {
        hasVm: () => {
          asked.open();
          return new Promise<boolean>(() => {});
        },
      },
    });
    const client = embed(cpi, { clock, config: { cloud: { state_dir: await tempDir() } } });
    const request = ask("create_vm", vmArgs(), { requestId: "cpi-1" });
    resultOf(await client.request(request));
    const repeat = client.request(request);
    await asked.opened;
    await clock.advance(1000);
    expect(errorOf(await repeat).message).toContain("did not finish within 1 s");
  });

  it.each([
    ["its own", { reboot_vm: 500, default: 9000 }, 500],
    ["the default", { create_vm: 1, default: 700 }, 700],
    ["an hour", {}, 3_600_000],
  ])("other methods are not waited for: %s", async (_, deadlinesMs, ms) => {
    const clock = fakeClock();
    const started = latch();
    const rebootVm = () => {
      started.open();
      return new Promise(() => {});
    };
    const client = embed(cloudCpi(new MemoryCloud(), { deadlinesMs, methods: { rebootVm } }), { clock });
    let answered = false;
    const reply = client.request(ask("reboot_vm", ["vm-1"])).finally(() => {
      answered = true;
    });
    await started.opened;
    await clock.advance(ms - 1);
    expect(answered).toBe(false);
    await clock.advance(1);
    expect(errorOf(await reply).message).toContain(`reboot_vm did not finish within ${ms / 1000} s`);
  });
});

describe("when the caller gives up", () => {
  it("what was made is undone, as at the deadline", async () => {
    const stop = new AbortController();
    const started = latch();
    const { cpi, done } = undoStage({
      createVm: (cloud, done) => async (args, call) => {
        await usual(cloud, done)(args, call);
        started.open();
        await new Promise((_, reject) => call.signal.addEventListener("abort", reject));
        throw new Error("unreachable");
      },
    });
    const reply = embed(cpi, { signal: stop.signal }).request(CREATE);
    await started.opened;
    stop.abort(new Error("the Director is shutting down"));
    expect(errorOf(await reply).message).toBe("the Director is shutting down");
    expect(done).toEqual(["undo 2", "undo 1"]);
  });

  it("before the method began, it does not begin", async () => {
    const { cpi, cloud } = undoStage({ createVm: usual });
    const signal = AbortSignal.abort(new Error("too late"));
    expect(errorOf(await embed(cpi, { signal }).request(CREATE)).message).toBe("too late");
    expect(cloud.calls).toEqual([]);
  });
});
