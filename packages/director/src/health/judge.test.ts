import { describe, expect, it } from "vitest";
import { judge } from "./judge.ts";
import type { Known, Watched } from "./model.ts";
import { answeredAt, LIMITS, silentFrom, vmOf, watchedOf } from "./testing/samples.ts";

const judged = (watched: Watched, known: Known | undefined, now: number, absentSince?: number) =>
  judge(watched, known, { now, absentSince }, LIMITS);

describe("an agent that is silent", () => {
  const died = answeredAt(0);

  it("is unresponsive after 60 s and two questions, since its last answer", () => {
    expect(judged(watchedOf(), silentFrom(died, 30_000, 2), 60_000)).toMatchObject({
      status: "unresponsive",
      since: 1_000_000,
      toHeal: true,
      suspect: true,
    });
  });

  it("is not yet when less time has passed, but under suspicion", () => {
    expect(judged(watchedOf(), silentFrom(died, 30_000, 3), 59_999)).toMatchObject({
      status: "healthy",
      toHeal: false,
      suspect: true,
    });
  });

  it("is not replaced for a single question that was lost", () => {
    expect(judged(watchedOf(), silentFrom(died, 30_000, 1), 90_000)).toMatchObject({ toHeal: false });
  });

  it("is left to the next deploy if no deploy has brought up its instance", () => {
    const never = silentFrom(died, 30_000, 9);
    expect(judged(watchedOf({ deployed: false }), never, 1e6)).toMatchObject({
      status: "unresponsive",
      toHeal: false,
    });
  });

  it("is not blamed for a question that we asked late", () => {
    // The Director did not ask for ten minutes; then two questions within 20 s were lost.
    const late = silentFrom(died, 600_000, 2);
    expect(judged(watchedOf(), late, 620_000).status).toBe("healthy");
    expect(judged(watchedOf(), late, 630_000).status).toBe("unresponsive");
  });

  it("has the same time from the first question if it never answered", () => {
    const never: Known = { watchedSince: 100_000, watchedAt: 5 };
    expect(judged(watchedOf(), silentFrom(never, 101_000, 3), 159_000).status).toBe("unknown");
    expect(judged(watchedOf(), silentFrom(never, 101_000, 3), 160_000)).toMatchObject({
      status: "unresponsive",
      since: 5,
    });
  });
});

describe("an agent that is heard over a connection of all", () => {
  const onNats = watchedOf({ vm: vmOf("web-0", { agentUrl: "nats://10.0.0.6:4222" }) });
  const silent = silentFrom(answeredAt(0), 40_000, 3);
  const heard = (now: number, up: boolean, since: number, limits = LIMITS) =>
    judge(onNats, silent, { now, absentSince: undefined, connection: { up, since } }, limits);

  it("is silent from its last word on, while there was a connection", () => {
    expect(heard(69_999, true, -1).status).toBe("healthy");
    expect(heard(70_000, true, -1)).toMatchObject({ status: "unresponsive", toHeal: true });
  });

  it("has all of the time again after a reconnect", () => {
    expect(heard(159_999, true, 100_000)).toMatchObject({ status: "healthy", toHeal: false });
    expect(heard(160_000, true, 100_000)).toMatchObject({ status: "unresponsive", toHeal: true });
  });

  it("is not silent without a connection, and after a while is unknown, which counts as down for the guard", () => {
    const impatient = { ...LIMITS, silentMs: 10_000 };
    for (const limits of [LIMITS, impatient])
      expect(heard(1e6, false, 1e6 - 29_999, limits)).toMatchObject({ status: "healthy", toHeal: false });
    expect(heard(1e6, false, 1e6 - 30_000)).toMatchObject({
      status: "unknown",
      toHeal: false,
      suspect: true,
    });
  });
});

describe("an instance without a VM", () => {
  const gone = watchedOf({ vm: undefined });

  it("gets one when that has lasted, so that a deploy that follows a delete-vm is not overtaken", () => {
    expect(judged(gone, undefined, 59_999, 0)).toMatchObject({ status: "no_vm", toHeal: false });
    expect(judged(gone, undefined, 60_000, 0)).toMatchObject({ status: "no_vm", toHeal: true });
  });

  it("gets no VM while the length of its absence is unknown", () => {
    expect(judged(gone, undefined, 1e9).toHeal).toBe(false);
  });

  it("is as it should be if it was stopped for good", () => {
    expect(judged({ ...gone, state: "detached" }, undefined, 1e9, 0)).toMatchObject({
      status: "detached",
      toHeal: false,
    });
  });

  it("judges an errand that does not run as idle and healthy", () => {
    for (const deployed of [true, false])
      expect(judged({ ...gone, errand: true, deployed }, undefined, 1e9, 0)).toMatchObject({
        status: "idle",
        toHeal: false,
      });
  });

  it("is left to the next deploy if no deploy has brought it up", () => {
    expect(judged({ ...gone, deployed: false }, undefined, 1e9, 0)).toMatchObject({
      status: "unfinished",
      toHeal: false,
    });
  });

  it("is left alone if it is ignored", () => {
    expect(judged({ ...gone, ignore: true }, undefined, 1e9, 0)).toMatchObject({
      status: "ignored",
      toHeal: false,
    });
  });
});

describe("an instance whose agent answers", () => {
  it("is healthy when its processes run and its disk is mounted", () => {
    const withDisk = watchedOf({ vm: vmOf("web-0", { disk: "disk-1" }) });
    expect(judged(withDisk, answeredAt(0, { mounted: true }), 1)).toEqual({
      status: "healthy",
      findings: [],
      since: undefined,
      toHeal: false,
      suspect: false,
    });
  });

  it("is failing when a process does not run, and its processes are named", () => {
    const processes = [
      { name: "nginx", state: "running" },
      { name: "worker", state: "failing" },
    ];
    expect(judged(watchedOf(), answeredAt(0, { jobState: "failing", processes }), 1)).toMatchObject({
      status: "failing",
      findings: [{ what: "failing: worker failing" }],
      toHeal: false,
    });
  });

  it("is failing when it runs and should be stopped, and well when it does not", () => {
    const stopped = watchedOf({ state: "stopped" });
    expect(judged(stopped, answeredAt(0), 1).status).toBe("failing");
    expect(judged(stopped, answeredAt(0, { jobState: "stopped" }), 1).status).toBe("healthy");
  });

  it("is not healthy when its disk is not mounted, and all that is wrong is said, the worst first", () => {
    const withDisk = watchedOf({ vm: vmOf("web-0", { disk: "disk-1" }) });
    const { status, findings, toHeal } = judged(
      withDisk,
      answeredAt(0, { mounted: false, jobState: "failing" }),
      1,
    );
    expect({ status, toHeal }).toEqual({ status: "disk_not_mounted", toHeal: false });
    expect(findings.map((one) => one.status)).toEqual(["disk_not_mounted", "failing"]);
  });

  it("is not healthy when the kernel has set its disk to read-only, and what to type is said", () => {
    const withDisk = watchedOf({ vm: vmOf("web-0", { disk: "disk-1" }) });
    const { status, findings, toHeal } = judged(
      withDisk,
      answeredAt(0, { mounted: true, readOnly: true }),
      1,
    );
    expect({ status, toHeal }).toEqual({ status: "disk_read_only", toHeal: false });
    expect(findings[0]?.what).toMatch(
      /disk-1 was set to read-only.*slipway -d shop recreate web\/web-0 --skip-drain/,
    );
    // A disk that is not mounted is reported first; a disk that is not the instance's does not count.
    expect(judged(withDisk, answeredAt(0, { mounted: false, readOnly: true }), 1).status).toBe(
      "disk_not_mounted",
    );
    expect(judged(watchedOf(), answeredAt(0, { readOnly: true }), 1).status).toBe("healthy");
  });

  it("is not healthy, and not replaced either, when agent and Director do not accept each other", () => {
    const refused = {
      ...answeredAt(0),
      refused: { at: 7, why: "its certificate is not of this Director's authority" },
    };
    expect(judged(watchedOf(), refused, 1e9)).toMatchObject({ status: "refused", since: 7, toHeal: false });
  });

  it("is not fine after a resurrection that did not come to its end: that goes on", () => {
    const half = watchedOf({ updateCompleted: false, resurrection: { task: 7, attempts: 1, begun: true } });
    expect(judged(half, answeredAt(0), 1)).toMatchObject({ status: "unfinished", toHeal: true });
  });

  it("is left to the next deploy when a deploy was what did not come to its end", () => {
    const half = watchedOf({ updateCompleted: false });
    expect(judged(half, answeredAt(0), 1)).toMatchObject({ status: "unfinished", toHeal: false });
    const asked = { ...half, resurrection: { task: 7, attempts: 1, begun: false } };
    expect(judged(asked, answeredAt(0), 1)).toMatchObject({ status: "unfinished", toHeal: false });
  });
});
