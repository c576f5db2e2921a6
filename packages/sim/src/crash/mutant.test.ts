import { describe, expect, it } from "vitest";
import { allMutants } from "./mutant.ts";

describe("the mutants of a table of steps", () => {
  it("are what a step has: an intent counts where it is more than a mark to begin anew", () => {
    const found = allMutants({
      create_vm: { kind: "create", records: true, settles: true, invalidates: false },
      delete_vm: { kind: "call", records: true, settles: false, invalidates: true },
      unmount_disk: { kind: "rerun", records: false, settles: false, invalidates: true },
      start: { kind: "rerun", records: false, settles: false, invalidates: false },
    });
    expect(found.map(({ step, part }) => `${step} ${part}`)).toEqual([
      "create_vm settle",
      "create_vm intent",
      "create_vm refusal",
      "create_vm record",
      "delete_vm invalidate",
      "delete_vm record",
      "unmount_disk invalidate",
    ]);
  });
});
