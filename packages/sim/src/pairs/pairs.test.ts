import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PLANTED_FAULTS, plant } from "../schedule/planted-faults.ts";
import { openLab } from "../schedule/scratch.ts";
import { pointsFor } from "./pairs.ts";
import { PairStage } from "./play.ts";
import { PAIR_OPERATIONS } from "./table.ts";

describe("pointsFor", () => {
  const point = (name: string, ...locks: string[]) => ({ name, locks });
  const held = [point("a"), point("b", "x"), point("c", "x"), point("d", "x"), point("e")];

  it("holds an operation at all of its points beside one that takes none of its locks", () => {
    expect(pointsFor(held, new Set(["y"]))).toEqual([1, 2, 3, 4, 5]);
  });

  it("leaves out points under a common lock except for the first and the last", () => {
    expect(pointsFor(held, new Set(["x"]))).toEqual([1, 2, 4, 5]);
  });
});

/** Cases in which a planted fault shows; without it nothing is wrong in them. */
const CASES = [
  ["a claim is not kept", "delete old orphaned disks", "cpi delete_disk", "attach orphan 1"],
  [
    "the claim of a stemcell is not kept",
    "delete a stemcell",
    "cpi delete_stemcell",
    "deploy shop with another stemcell",
  ],
  ["a lock is not respected", "resurrect", "write write_journal", "resolve"],
  ["an orphaned disk is not recorded", "list VMs", "", "orphan a disk"],
  ["the use of a stemcell is not recorded", "delete a stemcell", "", "deploy shop with another stemcell"],
  ["a snapshot is not recorded", "list VMs", "", "take a snapshot"],
  ["an attachment is not recorded", "list VMs", "", "resolve"],
] as const;

describe("the net of pairs", () => {
  let opened: Awaited<ReturnType<typeof openLab>>;
  let stage: PairStage;
  beforeAll(async () => {
    opened = await openLab();
    stage = await PairStage.open(opened.lab);
  });
  afterAll(() => opened.close());

  const operation = (name: string) => {
    const found = PAIR_OPERATIONS.find((one) => one.name === name);
    if (found === undefined) throw new Error(`there is no operation ${name}`);
    return found;
  };

  const brokenAt = async (held: string, nth: number, beside: string) =>
    (await stage.interleave(operation(held), nth, operation(beside))).broken;

  /** The first point of this name, or of any, at which something breaks. */
  async function firstBroken(held: string, at: string, beside: string): Promise<number | undefined> {
    const { points } = await stage.solo(operation(held));
    const numbers = points.flatMap(({ name }, index) => (at === "" || name === at ? [index + 1] : []));
    for (const nth of numbers) if ((await brokenAt(held, nth, beside)).length > 0) return nth;
    return undefined;
  }

  it.each(CASES)("notices that %s", async (fault, held, at, beside) => {
    const remove = await plant(opened.lab.admin, PLANTED_FAULTS[fault]);
    const nth = await firstBroken(held, at, beside).finally(remove);
    expect(nth).toBeDefined();
    expect(await brokenAt(held, nth ?? 1, beside)).toEqual([]);
  });

  it("lets an operation wait for the lock of another and then run to its end", async () => {
    const held = operation("take a snapshot");
    const { points } = await stage.solo(held);
    const locked = points.findIndex(({ locks }) => locks.includes("lock:deployment:other"));
    const played = await stage.interleave(held, locked + 2, operation("deploy other with more instances"));
    expect(played).toMatchObject({ broken: [], states: ["done", "done"] });
  });
});
