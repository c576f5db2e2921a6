import { describe, expect, it } from "vitest";
import { barOf, spansAt, timelineOf, tookText } from "./timeline.ts";

const WEB = "web/6f1c0000-0000-4000-8000-000000000000";
const AT = 1_000_000;

const lines = (...documents: object[]) => documents.map((one) => JSON.stringify(one));
const event = (state: string, seconds: number, more: object = {}) => ({
  ...{ stage: "Updating instance web", tags: [], task: `${WEB} (0)`, index: 1 },
  ...{ time: AT / 1000 + seconds, state, ...more },
});
const call = (at: number, message: string, more: object = {}) => ({
  ...{ at: AT + at, ms: 100, to: "cpi:lab", instance: WEB, message, request: [], answer: null },
  ...more,
});

describe("the timeline of a task", () => {
  it("puts steps below their stage and calls below the step of their instance", () => {
    const { spans, began, ended } = timelineOf(
      lines(event("started", 0), event("finished", 2)),
      lines(call(2900, "attach_disk"), call(500, "create_vm")),
    );
    expect(spans.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "stage Updating instance web",
      `step ${WEB} (0)`,
      "call lab create_vm",
      "call lab attach_disk",
    ]);
    expect([began, ended]).toEqual([AT, AT + 3000]);
  });

  it("lets a step last as long as its calls, since events have whole seconds", () => {
    const { spans } = timelineOf(lines(event("started", 0), event("finished", 0)), lines(call(100, "info")));
    expect(spans.slice(0, 2).map(({ ended }) => ended)).toEqual([AT + 200, AT + 200]);
  });

  it("shows calls of no step apart", () => {
    const { spans } = timelineOf(
      lines(event("started", 0), event("finished", 1)),
      lines(call(9000, "has_vm"), call(100, "info", { instance: undefined })),
    );
    expect(spans.slice(2).map(({ name }) => name)).toEqual([
      "Calls outside of steps",
      "lab info",
      "lab has_vm",
    ]);
  });

  it("keeps a step open until it ends, with what it does now", () => {
    const running = timelineOf(
      lines(event("started", 0), event("in_progress", 1, { data: { status: "mounting disk" } })),
      [],
    );
    expect(running.spans).toMatchObject([
      { kind: "stage", ended: undefined, note: "0 of 1" },
      { kind: "step", ended: undefined, note: "mounting disk" },
    ]);
  });

  it("shows why a step has failed, and the error that ended the task", () => {
    const { spans, messages } = timelineOf(
      lines(event("started", 0), event("failed", 1, { data: { error: "no space" } }), {
        time: 1,
        error: { code: 100, message: "web: no space" },
      }),
      [],
    );
    expect(spans[1]).toMatchObject({ failed: true, note: "no space" });
    expect(messages).toEqual([{ kind: "error", text: "web: no space" }]);
  });

  it("continues a step that was begun again after the Director was interrupted", () => {
    const { spans, runs } = timelineOf(
      lines(event("started", 0), event("started", 30), event("finished", 31)),
      lines(
        { at: AT, ms: 1, to: "director", message: "run", request: null },
        { at: AT + 30_000, ms: 1, to: "director", message: "run", request: null },
      ),
    );
    expect(spans.filter(({ kind }) => kind === "step")).toMatchObject([{ began: AT, ended: AT + 31_000 }]);
    expect(runs).toBe(2);
  });

  it("leaves out lines that are cut off or of another form", () => {
    const { spans } = timelineOf(['{"stage":"x"', "[]", '"text"', "", ...lines(event("started", 0))], ["{"]);
    expect(spans).toHaveLength(2);
  });

  it("takes a fleet of steps and calls", () => {
    const uuids = Array.from({ length: 20_000 }, (_, index) =>
      WEB.replace(/\d{12}$/, `${index}`.padStart(12, "0")),
    );
    const { spans } = timelineOf(
      uuids.flatMap((task, index) =>
        lines(event("started", 0, { index, task }), event("finished", 1, { index, task })),
      ),
      uuids.flatMap((instance) => lines(call(500, "info", { instance }))),
    );
    expect(spans).toHaveLength(40_001);
  });
});

describe("a replay", () => {
  const { spans } = timelineOf(
    lines(event("started", 0), event("finished", 4)),
    lines(call(2000, "create_vm")),
  );

  it("knows only what had happened by then", () => {
    expect(spansAt(spans, AT + 1000).map(({ kind, ended }) => [kind, ended])).toEqual([
      ["stage", undefined],
      ["step", undefined],
    ]);
    expect(spansAt(spans, AT + 4000)).toEqual(spans);
  });
});

describe("a bar", () => {
  const span = { key: "", kind: "step", name: "", failed: false, note: undefined } as const;

  it("stands where its time is, and is never too short to be seen", () => {
    expect(barOf({ ...span, began: 25, ended: 75 }, 0, 100)).toEqual({ left: 25, width: 50 });
    expect(barOf({ ...span, began: 50, ended: 50 }, 0, 100).width).toBeGreaterThan(0);
    const late = barOf({ ...span, began: 100, ended: 100 }, 0, 100);
    expect(late.left + late.width).toBeLessThanOrEqual(100);
  });

  it("says that a step within one second took less than that", () => {
    expect(tookText({ ...span, began: 0, ended: 0 }, 0)).toBe("under 1 s");
    expect(tookText({ ...span, began: 0, ended: 65_000 }, 0)).toBe("1 min 5 s");
  });
});
