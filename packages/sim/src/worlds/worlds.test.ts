import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PLANTED_FAULTS, plant } from "../schedule/planted-faults.ts";
import { openLab } from "../schedule/scratch.ts";
import { type HistoryPlan, planOf } from "./plan.ts";
import { HistoryPlayer } from "./play.ts";
import { REGRESSIONS } from "./regressions.ts";
import { shrink } from "./shrink.ts";

const PLAIN: HistoryPlan = {
  seed: "planted",
  cpi: { remembers: true, resizes: false },
  snapshots: false,
  disorder: 0,
  operators: [{ id: 0, kind: "deploy", after: null }],
  faults: [],
  kills: [],
};

describe("shrink", () => {
  it("takes away what does not matter, and nothing else", async () => {
    const plan = planOf("shrink");
    const matters = plan.operators.at(-1)?.id;
    const smallest = await shrink(plan, (one) =>
      Promise.resolve(one.operators.some(({ id }) => id === matters)),
    );
    expect(smallest).toMatchObject({ operators: [{ id: matters, after: null }], faults: [], kills: [] });
  });
});

describe("random histories", () => {
  let opened: Awaited<ReturnType<typeof openLab>>;
  let player: HistoryPlayer;
  beforeAll(async () => {
    opened = await openLab();
    player = new HistoryPlayer(opened.lab);
  });
  afterAll(() => opened.close());

  async function withFault<T>(fault: keyof typeof PLANTED_FAULTS, work: () => Promise<T>): Promise<T> {
    const remove = await plant(opened.lab.admin, PLANTED_FAULTS[fault]);
    try {
      return await work();
    } finally {
      await remove();
    }
  }

  it("replay exactly from their seed, with faults and kills", async () => {
    const plan = planOf("a-10");
    const first = await player.play(plan);
    const second = await player.play(plan);
    expect(first.kills + first.faults).toBeGreaterThan(0);
    expect({ ...second, story: [] }).toEqual({ ...first, story: [] });
  });

  it.each(Object.entries(REGRESSIONS))("do not repeat: %s", async (_, plan) => {
    expect((await player.play(plan)).broken).toEqual([]);
  });

  it.each([
    ["an intent is not recorded", true],
    ["a stray is not recorded", false],
  ] as const)("notice that %s", async (fault, remembers) => {
    const { trace } = await player.play(PLAIN);
    const step = trace.indexOf("cpi create_vm") + 1;
    const plan = { ...PLAIN, cpi: { ...PLAIN.cpi, remembers }, kills: [{ step, when: "after" as const }] };
    expect((await player.play(plan)).broken).toEqual([]);
    expect(await withFault(fault, async () => (await player.play(plan)).broken)).not.toEqual([]);
  });

  it("notice that an address is not given back", async () => {
    const operators = ["deploy", "deploy", "delete_deployment"] as const;
    const plan = {
      ...PLAIN,
      seed: "ad-1",
      operators: operators.map((kind, at) => ({ id: at + 1, kind, after: null })),
    };
    expect((await player.play(plan)).broken).toEqual([]);
    const broken = await withFault(
      "an address is not given back",
      async () => (await player.play(plan)).broken,
    );
    expect(broken).not.toEqual([]);
  });
});
