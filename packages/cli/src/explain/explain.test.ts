import type { ConversationLine } from "@slipway/protocol/director/conversation-line";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { widthOf } from "../ui/text.ts";
import type { Paint } from "../ui/ui.ts";
import { wrapped } from "../ui/wrap.ts";
import { changes, readConversation } from "./read.ts";
import { duration, sequenceLines, summaryLines } from "./sequence.ts";
import { DEPLOY, textOf } from "./testing/talk.ts";
import { timeSharesOf } from "./time-shares.ts";

const same = (text: string) => text;
const paint: Paint = { bold: same, dim: same, green: same, red: same, yellow: same, cyan: same };
const telling = { cpi: "local", columns: Number.POSITIVE_INFINITY, paint };
const told = (lines: readonly ConversationLine[], columns = Number.POSITIVE_INFINITY) =>
  sequenceLines(readConversation(textOf(lines)), { ...telling, columns }).join("\n");
const sentences = (lines: readonly ConversationLine[]) => summaryLines(readConversation(textOf(lines)));

describe("a conversation", () => {
  it("prints each call with its receiver, version, duration and answer", () => {
    expect(told(DEPLOY)).toBe(
      `
+10 ms    Director -> CPI local: info ... 5 ms
          -> it speaks version 3, and takes slipway-tar, general-tar
+20 ms    Director -> CPI local: create_vm (v2, stemcell v3) ... 412 ms
          agent agent-1 on stemcell img-1, networks default 127.160.0.2; settings for the agent: mbus, group
          -> VM vm-1
+440 ms   Director -> agent of db/6f1c2a3b: ping (asked 3 times) ... 300 ms
          -> ready
+750 ms   Director -> CPI local: create_disk (v2, stemcell v3) ... 50 ms
          1024 MiB for VM vm-1
          -> disk disk-1
+810 ms   Director -> CPI local: attach_disk (v2, stemcell v3) ... 40 ms
          disk disk-1 to VM vm-1
          -> the hint {"path":"/dev/sdc"}
+860 ms   Director -> agent of db/6f1c2a3b: add_persistent_disk ... 10 ms
          disk disk-1 is found by {"path":"/dev/sdc"}
+870 ms   Director -> agent of db/6f1c2a3b: mount_disk (asked 2 times) ... 100 ms
          disk-1`.trim(),
    );
    expect(sentences(DEPLOY)).toEqual([
      "No registry was involved: what the agents had to know went with create_vm and as disk hints.",
      "It took 1000 ms: CPI 507 ms (51 %), agents 410 ms (41 %), Director 83 ms (8 %).",
    ]);
  });

  it("lists calls in the order in which they began, whatever order they ended in", () => {
    expect(told([...DEPLOY].reverse())).toBe(told(DEPLOY));
  });

  it.each([
    [{ api_version: 1 }, "api_version 1 has no way to return a disk hint"],
    [{ stemcell_api_version: 1 }, "the agent of stemcell version 1 takes settings from the registry"],
    [{ registry: true }, "A registry was involved, in create_vm"],
  ])("names the registry as involved in a mix %j, and says why", (old, words) => {
    const lines = DEPLOY.map((line) => ({ ...line, ...(line.message === "create_vm" && old) }));
    expect(sentences(lines)[0]).toContain("A registry was involved, in create_vm");
    expect(sentences(lines)[0]).toContain(words);
  });

  it("under version 1 has no hint to show", () => {
    const lines = DEPLOY.map((line) => ({
      ...line,
      ...(line.message === "attach_disk" && { api_version: 1, answer: null }),
    }));
    expect(told(lines)).toContain("-> nothing: the agent is to look in the registry");
  });

  it("shows a failure in its own words, on a line of its own", () => {
    const [, create] = DEPLOY;
    const { answer: _, ...rest } = create as ConversationLine;
    const text = told([{ ...rest, error: "CPI error 'X'\nwith message 'no room'" }]);
    expect(text).toContain("create_vm (v2, stemcell v3) ... failed after 412 ms");
    expect(text).toContain("-> CPI error 'X' with message 'no room'");
  });

  it("does not call it a failure that a CPI lacks a method", () => {
    const [, create] = DEPLOY;
    const { answer: _, ...rest } = create as ConversationLine;
    const error = "CPI error 'Bosh::Clouds::NotImplemented' with message 'no' in 'set_vm_metadata'";
    const text = told([{ ...rest, message: "set_vm_metadata", error }]);
    expect(text).toContain("set_vm_metadata (v2, stemcell v3) ... not implemented, 412 ms");
    expect(text).not.toContain("failed");
    expect(text).not.toContain("CPI error");
  });

  it("shows unknown messages as they were", () => {
    const line = {
      at: 1,
      ms: 2,
      to: "cpi:other",
      message: "fly_vm",
      request: ["vm-1", { high: true }],
      answer: 7,
    };
    expect(told([line])).toBe(
      '+0 ms     Director -> CPI other: fly_vm ... 2 ms\n          vm-1, {"high":true}\n          -> 7',
    );
  });

  it("reports a log that was cut off, and shows the rest", () => {
    const text = `${textOf(DEPLOY)}{"at": 1, "half\n[cut here: no more than 32 MiB are kept]\n`;
    const conversation = readConversation(text);
    expect(conversation.calls).toHaveLength(7);
    expect(summaryLines(conversation).at(-1)).toContain("2 lines could not be read");
  });

  it("changes something unless it only asks", () => {
    const asking = DEPLOY.filter(({ message }) => ["info", "ping"].includes(message));
    expect(changes(readConversation(textOf(DEPLOY)))).toBe(true);
    expect(changes(readConversation(textOf(asking)))).toBe(false);
  });

  it.each([40, 60, 100])("fits into %i columns, and loses no word", (columns) => {
    const lines = told(DEPLOY, columns).split("\n");
    const longest = Math.max(...told(DEPLOY).split(/\s+/).map(widthOf));
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(Math.max(columns, 13 + longest));
    expect(lines.join(" ").split(/\s+/)).toEqual(told(DEPLOY).split(/\s+/));
  });
});

describe("shares of the time", () => {
  const call = (to: string, at: number, ms: number): ConversationLine => ({
    at,
    ms,
    to,
    message: "x",
    request: [],
  });
  const of = (...lines: ConversationLine[]) => timeSharesOf(readConversation(textOf(lines)));

  it("are equal for simultaneous calls", () => {
    const lines = [
      call("cpi:", 10, 40),
      call("agent:a", 30, 40),
      call("cpi:", 15, 10),
      call("director", 0, 100),
    ];
    expect(of(...lines)).toEqual({ total: 100, cpi: 30, agent: 30, director: 40 });
  });

  it("cover only the known calls while the task still runs", () => {
    expect(of(call("cpi:", 10, 10), call("agent:a", 30, 10))).toEqual({
      total: 30,
      cpi: 10,
      agent: 10,
      director: 10,
    });
  });

  it("leave out the time during which a task was interrupted", () => {
    const lines = [call("director", 0, 10), call("cpi:", 1000, 5), call("director", 1000, 10)];
    expect(of(...lines)).toEqual({ total: 20, cpi: 5, agent: 0, director: 15 });
  });

  it("add up, and none is negative", () => {
    const any = fc.tuple(fc.constantFrom("cpi:", "agent:a", "agent:b"), fc.nat(1000), fc.nat(500));
    fc.assert(
      fc.property(fc.array(any, { maxLength: 20 }), (calls) => {
        const { total, cpi, agent, director } = of(
          ...calls.map((one) => call(...one)),
          call("director", 0, 1500),
        );
        expect(cpi + agent + director).toBeCloseTo(total);
        expect(total).toBeCloseTo(1500);
        expect(Math.min(cpi, agent, director)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("words", () => {
  it.each([
    [0.04, "0 ms"],
    [412.4, "412 ms"],
    [9_999, "9999 ms"],
    [12_345, "12.3 s"],
  ])("%d ms is %s", (ms, text) => expect(duration(ms)).toBe(text));

  it("are broken between, hang under the first line, and stay whole where there is no room", () => {
    expect(wrapped("  one two three four five six seven", 30, "    ")).toEqual([
      "  one two three four five six",
      "    seven",
    ]);
    expect(wrapped("one two three", 5)).toEqual(["one two three"]);
  });
});
