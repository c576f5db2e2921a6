import { type ConversationLine, conversationLine } from "@slipway/protocol/director/conversation-line";
import { check } from "@slipway/protocol/schema/check";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import { callRecorder } from "../call-log/call-log.ts";
import { timed } from "../recorder/recorder.ts";

function fixture() {
  const clock = fakeClock({ hurry: true });
  const lines: ConversationLine[] = [];
  return { clock, lines, recorder: callRecorder(clock, (line) => lines.push(line)) };
}

describe("a line of the conversation", () => {
  it("says when, how long, to whom, for whom, what, in which version, and what came of it", async () => {
    const { clock, lines, recorder } = fixture();
    const at = clock.now();
    const record = recorder({
      to: "cpi:",
      instance: "db/1",
      message: "attach_disk",
      apiVersion: 2,
      stemcellApiVersion: 3,
      registry: true,
      request: ["vm-1", "disk-1"],
    });
    await clock.sleep(412);
    record.answered({ path: "/dev/sdc" });
    expect(lines).toEqual([
      {
        ...{ at, ms: 412, to: "cpi:", instance: "db/1", message: "attach_disk", registry: true },
        ...{ api_version: 2, stemcell_api_version: 3, request: ["vm-1", "disk-1"] },
        answer: { path: "/dev/sdc" },
      },
    ]);
    expect(check(conversationLine, JSON.parse(JSON.stringify(lines[0]))).ok).toBe(true);
  });

  it("is one for all the polls of a call, with their number", () => {
    const { lines, recorder } = fixture();
    const record = recorder({ to: "agent:a", message: "mount_disk", request: ["disk-1"] });
    for (let poll = 0; poll < 300; poll++) record.polled();
    record.note("the agent does not know this message");
    record.failed("no room");
    expect(lines).toMatchObject([{ polls: 300, error: "no room", note: expect.any(String) }]);
    expect(lines[0]).not.toHaveProperty("answer");
  });

  it.each([
    ["a certificate", { ca: "-----BEGIN CERTIFICATE-----\nabc\n" }, { ca: "<PEM>" }],
    ["a long text", ["x".repeat(5000)], [`${"x".repeat(1000)}... (5000 characters)`]],
    ["too much", Array.from({ length: 5000 }, () => "abcd"), "(35001 characters, left out)"],
  ])("names %s, and does not quote it", (_, request, shown) => {
    const { lines, recorder } = fixture();
    recorder({ to: "agent:a", message: "apply", request }).answered();
    expect(lines[0]?.request).toEqual(shown);
  });

  it("is read whole however deep what came is nested", () => {
    const { lines, recorder } = fixture();
    let deep: unknown = "x";
    for (let level = 0; level < 5000; level++) deep = [deep];
    recorder({ to: "agent:a", message: "apply", request: deep }).answered();
    expect(JSON.stringify(lines[0])).toContain("nested deeper");
  });

  it("ends the run of a task, also of one that fails", async () => {
    const { clock, lines } = fixture();
    const work = async () => {
      await clock.sleep(50);
      throw new Error("no");
    };
    await expect(timed("update_deployment", clock, (line) => lines.push(line), work)).rejects.toThrow("no");
    expect(lines).toMatchObject([{ to: "director", message: "update_deployment", ms: 50 }]);
  });
});
