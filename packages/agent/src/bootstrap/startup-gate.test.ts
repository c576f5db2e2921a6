import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import type { RequestHandler } from "../transports/transport.ts";
import { StartupGate } from "./startup-gate.ts";
import { StartupProblem } from "./startup-problem.ts";
import { StartupProgress } from "./startup-progress.ts";
import { ask } from "./testing/fake-vm.ts";

const dispatcher: RequestHandler = async (body) => {
  const { method } = JSON.parse(body) as { method: string };
  const value = method === "get_state" ? { job_state: "failing" } : `did ${method}`;
  return { kind: "reply", reply: { value }, replyTo: undefined };
};

function gateHere() {
  const clock = fakeClock();
  const [waiting, attention] = [new StartupProgress(clock), new StartupProblem()];
  const gate = new StartupGate({ waiting, attention, clock, origin: () => "settings from T" });
  return { clock, waiting, attention, gate, tell: (method: string) => ask(gate.handler, method) };
}

describe("an agent that is starting", () => {
  it("tells whoever pings what it waits for, in the words that make a Director ask again", async () => {
    const { clock, waiting, tell } = gateHere();
    waiting.enter("persistent disk");
    waiting.on("the device of persistent disk vol-1");
    await clock.advance(12_000);
    expect(await tell("ping")).toBe(
      "restarting agent: waiting for the device of persistent disk vol-1 (persistent disk, 12 s)",
    );
    expect(await tell("info")).toEqual({
      api_version: 1,
      settings_origin: "settings from T",
      waiting: "waiting for the device of persistent disk vol-1 (persistent disk, 12 s)",
    });
  });

  it("holds other messages back for a while and does them if it has started by then", async () => {
    const { clock, gate, tell } = gateHere();
    const answers = Promise.all([tell("get_task"), tell("get_state"), tell("mount_disk")]);
    await clock.advance(29_000);
    gate.open(dispatcher);
    expect(await answers).toEqual(["did get_task", { job_state: "failing" }, "did mount_disk"]);
  });

  it("refuses them with the cause when it takes longer, but for get_task, whose caller asks again", async () => {
    const { clock, waiting, tell } = gateHere();
    waiting.enter("networks");
    const answers = Promise.all([tell("get_task"), tell("get_state")]);
    await clock.advance(30_000);
    expect(await answers).toEqual(["no answer", "restarting agent: waiting for networks (networks, 30 s)"]);
    expect(clock.waiting).toBe(0);
  });

  it("answers about disks while it waits for one that is missing, also who asked before; all else waits", async () => {
    const { clock, waiting, gate, tell } = gateHere();
    waiting.enter("persistent disk");
    const early = tell("list_disk");
    await clock.advance(3_000);
    gate.openForDisks(dispatcher);
    expect(await early).toBe("did list_disk");
    expect(await tell("remove_persistent_disk")).toBe("did remove_persistent_disk");
    expect(await tell("get_task")).toBe("did get_task");
    expect(await tell("ping")).toContain("restarting agent: waiting for persistent disk");
    const held = Promise.all([tell("mount_disk"), tell("get_state")]);
    await clock.advance(10_000);
    gate.open(dispatcher);
    expect(await held).toEqual(["did mount_disk", { job_state: "failing" }]);
    expect(clock.waiting).toBe(0);
  });

  it("does not answer what is no request", async () => {
    const { gate } = gateHere();
    expect(await gate.handler("{", "t")).toEqual({ kind: "unreadable" });
  });
});

describe("an agent that needs attention", () => {
  it("says so to pings and in get_state until somebody deals with its disks, then only in get_state", async () => {
    const { attention, gate, tell } = gateHere();
    gate.open(dispatcher);
    attention.report("no disk");
    expect(await tell("ping")).toBe("no disk");
    expect(await tell("get_state")).toEqual({ job_state: "failing", problems: ["no disk"] });
    expect(await tell("list_disk")).toBe("did list_disk");
    expect(await tell("ping")).toBe("did ping");
    expect(await tell("get_state")).toEqual({ job_state: "failing", problems: ["no disk"] });
    attention.clear();
    expect(await tell("get_state")).toEqual({ job_state: "failing" });
  });
});
