import { describe, expect, it } from "vitest";
import type { InstanceUuid } from "../model/names.ts";
import type { InstanceRecord } from "../model/records.ts";
import { Records } from "./records.ts";

const UUID = "u1" as InstanceUuid;

/** A journal whose instance changes with every read. */
function journal(there = true) {
  let reads = 0;
  return {
    reads: () => reads,
    instance: (uuid: InstanceUuid) => {
      reads += 1;
      return Promise.resolve(there ? ({ uuid, index: reads } as InstanceRecord) : undefined);
    },
  };
}

describe("the records of an instance", () => {
  it("are read once, until they are to be forgotten", async () => {
    const records = new Records(UUID, journal());
    const indexes = [(await records.instance())?.index, (await records.instance())?.index];
    records.forget();
    expect([...indexes, (await records.instance())?.index]).toEqual([1, 1, 2]);
  });

  it("are looked for again while there are none", async () => {
    const empty = journal(false);
    const records = new Records(UUID, empty);
    expect([await records.instance(), await records.instance()]).toEqual([undefined, undefined]);
    expect(empty.reads()).toBe(2);
  });
});
