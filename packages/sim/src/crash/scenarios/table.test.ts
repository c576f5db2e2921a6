import { operations } from "@slipway/director/operations/operations";
import { OFFERS } from "@slipway/engine/model/problems";
import { describe, expect, it } from "vitest";
import type { View } from "../scenario.ts";
import { ALL_SCENARIOS, SCENARIOS_OF } from "./table.ts";

/** Enough to be asked what comes next. */
const VIEW: View = {
  world: {} as View["world"],
  remembered: { orphanDisks: [], snapshots: ["s"] } as unknown as View["remembered"],
  problems: [{ id: 1, type: "missing_vm" }] as unknown as View["problems"],
  uploadsDir: "/uploads",
  releases: [],
  blobs: [],
  compiled: [],
  variables: [],
  instance: () => ({ uuid: "u", vms: [], disks: [] }) as unknown as ReturnType<View["instance"]>,
};

describe("the scenarios of the crash run", () => {
  it("kill every operation that the Director has", () => {
    const has = Object.keys(operations({} as Parameters<typeof operations>[0])).sort();
    expect(Object.keys(SCENARIOS_OF).sort()).toEqual(has);
  });

  it.each(Object.entries(SCENARIOS_OF))(
    "%s has some, and they kill tasks of that type",
    (type, scenarios) => {
      const killed = scenarios.map(({ move }) => {
        if (!("task" in move)) return "no task";
        return (typeof move.task === "function" ? move.task(VIEW) : move.task).type;
      });
      expect(new Set(killed)).toEqual(new Set([type]));
    },
  );

  it("take every resolution that cloud-check offers", () => {
    const offered = Object.values(OFFERS).flatMap(({ resolutions }) => resolutions);
    const taken = SCENARIOS_OF.cck_apply.map(({ name }) => name.replace("resolve by ", ""));
    expect(new Set(taken)).toEqual(new Set(offered));
  });

  it("have names of their own: `--only` finds each", () => {
    const names = ALL_SCENARIOS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });
});
