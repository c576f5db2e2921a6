import { describe, expect, it } from "vitest";
import { CallScheduler } from "./scheduler.ts";
import { VirtualClock } from "./virtual-clock.ts";

describe("VirtualClock", () => {
  it("fires timers in the order of their times, and those of one time in the order they were set", async () => {
    const clock = new VirtualClock(1_000);
    const fired: string[] = [];
    clock.after(20, () => fired.push("late"));
    clock.after(10, () => fired.push("first"));
    clock.after(10, () => fired.push("second"));
    clock.after(5, () => fired.push("cancelled"))();
    while (clock.advance());
    expect({ fired, now: clock.now(), elapsed: clock.monotonic() }).toEqual({
      fired: ["first", "second", "late"],
      now: 1_020,
      elapsed: 20,
    });
  });

  it("rejects a sleep whose signal is aborted, and does not move for it", async () => {
    const clock = new VirtualClock(0);
    const controller = new AbortController();
    const sleep = clock.sleep(10, controller.signal);
    controller.abort(new Error("enough"));
    await expect(sleep).rejects.toThrow("enough");
    expect(clock.advance()).toBe(false);
  });
});

describe("Scheduler", () => {
  const gate = (name: string) => ({ kind: "cpi" as const, name, actor: undefined });

  it("runs calls in the order that is chosen, not in the order in which they were made", async () => {
    const scheduler = new CallScheduler();
    const ran: string[] = [];
    for (const name of ["a", "b"])
      void scheduler.enter(gate(name), () => Promise.resolve(name)).then((done) => ran.push(done));
    await scheduler.settle();
    const [a, b] = scheduler.ready;
    if (a === undefined || b === undefined) throw new Error("two calls wait");
    await scheduler.run(b);
    await scheduler.run(a);
    await scheduler.settle();
    expect(ran).toEqual(["b", "a"]);
  });

  it("makes a dropped call and never answers it", async () => {
    const scheduler = new CallScheduler();
    const events: string[] = [];
    const work = async () => void events.push("made");
    void scheduler.enter(gate("a"), work).then(() => events.push("answered"));
    const [a] = scheduler.ready;
    if (a === undefined) throw new Error("a call waits");
    await scheduler.run(a, "drop");
    await scheduler.settle();
    expect(events).toEqual(["made"]);
  });
});
