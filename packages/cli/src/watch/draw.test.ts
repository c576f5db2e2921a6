import pc from "picocolors";
import { describe, expect, it } from "vitest";
import { widthOf } from "../ui/text.ts";
import { draw } from "./draw.ts";
import type { DirectorState } from "./model.ts";
import { AT, failing, instance, seen, task } from "./testing/states.ts";

const plain = pc.createColors(false);

const drawn = (what: DirectorState, columns: number, rows: number, scroll = 0) =>
  draw(what, { columns, rows, scroll, now: AT, paint: plain, keys: true });
const text = (what: DirectorState, columns: number, rows: number, scroll = 0) =>
  drawn(what, columns, rows, scroll).lines.join("\n");

const many = (count: number) => Array.from({ length: count }, (_, index) => instance(index));
const event = (id: number) => ({
  id: String(id),
  at: AT,
  text: `create vm vm-${id} of web/6f1c0000-0000-4000-8000-000000000001 done`,
  failed: false,
  deployment: "shop",
  task: "7",
});

const FULL = seen({
  instances: [...many(100), failing(100), failing(101)],
  tasks: [task(7), task(8, { state: "queued", began: undefined, progress: undefined })],
  events: Array.from({ length: 50 }, (_, id) => event(50 - id)),
  note: "VMs are not replaced: resurrection is off",
  trouble: { why: "the connection was refused", since: AT - 5_000 },
});

describe("a window of any size", () => {
  const sizes = [1, 2, 7, 10, 16, 24, 50, 80].flatMap((rows) =>
    [1, 8, 20, 40, 80, 200, 400].map((columns) => [columns, rows] as const),
  );
  it.each(sizes)("%i columns and %i rows is filled and never overflows", (columns, rows) => {
    for (const paint of [plain, pc.createColors(true)])
      for (const [what, scroll] of [
        [FULL, 0],
        [FULL, 150],
        [FULL, 10_000],
        [seen(), 0],
        [seen({ instances: [], deployments: [] }), 0],
      ] as const) {
        const { lines } = draw(what, { columns, rows, scroll, now: AT, paint, keys: true });
        expect(lines).toHaveLength(rows);
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
      }
  });
});

describe("what is seen first", () => {
  it("are instances with problems, since when, and what is being done; then how many more there are", () => {
    const shown = text(FULL, 80, 40);
    expect(shown).toMatch(/✗ 2 failing {2}● 100 running/);
    expect(shown).toMatch(
      /✗ web\/100 +failing .*\n {4}for 1m 30s: process nginx is failing\n {4}→ task 9 replaces/,
    );
    expect(shown.indexOf("web/101")).toBeLessThan(shown.indexOf("web/0 "));
    expect(shown).toMatch(/↓ and [89]\d more/);
  });

  it("the others are reached by scrolling, to the very last", () => {
    const { most } = drawn(FULL, 80, 24);
    expect(text(FULL, 80, 24, most)).toContain("web/99 ");
    expect(text(FULL, 80, 24, most)).toMatch(/↑ and \d+ more/);
    expect(text(FULL, 80, 24, most)).not.toContain("↓ and");
  });

  it("a long problem is cut, in three lines, or in one of a low window", () => {
    const long = { ...failing(1), problems: [Array.from({ length: 60 }, (_, n) => `word${n}`).join(" ")] };
    const below = (rows: number) =>
      drawn(seen({ instances: [long] }), 60, rows).lines.filter((line) => line.includes("word"));
    expect(below(24)).toHaveLength(3);
    expect(below(24).at(-1)).toMatch(/^ {4}word\d+( word\d+)+.*…$/);
    expect(below(10)).toEqual([expect.stringMatching(/^ {4}for 1m 30s: word0 word1 .*…$/)]);
  });

  it("a low window has instances and the task, no events and no titles", () => {
    const shown = text({ ...FULL, note: "", trouble: undefined }, 40, 10);
    expect(shown).toContain("✗ web/100");
    expect(shown).toContain("▸ 7 create deployment");
    expect(shown).not.toContain("Events");
  });

  it("a wide one has VM and processes too", () => {
    expect(text(seen(), 200, 50)).toMatch(
      /web\/0 +running +10\.0\.0\.0 +1\/1 +3% +21% +7% +0\.25 +z1 +vm-0 +nginx/,
    );
    expect(text(seen(), 50, 24)).not.toContain("vm-0");
  });

  it("each instance names its deployment if there are several", () => {
    expect(text(seen({ deployment: undefined }), 80, 24)).toMatch(/● shop +web\/0/);
  });
});

describe("tasks and events", () => {
  it("tell the stage, how far it is and what is under way", () => {
    expect(text(seen({ tasks: [task(7)] }), 160, 24)).toContain(
      "▸ 7 create deployment processing 1m 12s  ████░░░░░░ 2/5 Updating instance web: web/2 (canary)",
    );
  });

  it("show no count for a stage without a number of steps", () => {
    const progress = { stage: "Updating instance", done: 1, total: 0, steps: ["Creating VM"] };
    expect(text(seen({ tasks: [task(7, { progress })] }), 160, 24)).toContain(
      "Updating instance: Creating VM",
    );
    expect(text(seen({ tasks: [task(7, { progress })] }), 160, 24)).not.toContain("1/0");
  });

  it("show the reason of a failed task", () => {
    const over = task(7, { state: "error", progress: undefined, ended: AT, result: "no room" });
    expect(text(seen({ tasks: [over] }), 80, 24)).toContain("✗ 7 create deployment error 1m 12s no room");
  });

  it("name instances as the list does", () => {
    expect(text(seen({ events: [event(1)] }), 80, 24)).toContain(
      "12:00:00 create vm vm-1 of web/1 done (task 7)",
    );
  });
});

describe("the state of the Director", () => {
  it("shows since when the Director does not answer, and the time of the data below", () => {
    const shown = text(FULL, 100, 24);
    expect(shown).toContain("no answer for 5s");
    expect(shown).toContain(
      "The Director does not answer: the connection was refused. Below: as of 12:00:00.",
    );
  });

  it("shows the age of an old answer", () => {
    expect(text(seen({ at: AT - 15_000 }), 80, 24)).toContain("as of 15s ago");
  });

  it("says that a deployment no longer exists", () => {
    expect(text(seen({ instances: [], deployments: [] }), 80, 24)).toContain("not there any more");
  });
});

it("what came from elsewhere cannot move the cursor or start a line", () => {
  const evil = instance(0, {
    state: "a\x1b[2Jb\nc\rd",
    level: "bad",
    problems: ["x\x07\ny"],
    action: "\x1b]0;t\x07",
  });
  const lines = drawn(seen({ instances: [evil], url: "u\nv" }), 80, 24).lines;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
  for (const line of lines) expect(line).not.toMatch(/[\x00-\x1f\x7f]/);
});
