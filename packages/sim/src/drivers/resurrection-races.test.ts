import type { NewTask } from "@slipway/director/tasks/task";
import { fractionsOf, sampleOf, seed } from "@slipway/testkit/sample";
import { describe, expect, it } from "vitest";
import { deleteTask, deployTask } from "../crash/scenarios/tasks.ts";
import { DEPLOY, problemsStage, SHOP } from "./testing/problems-stage.ts";
import type { Interference } from "./watch-clients.ts";

const { stage, task, run, db, whole, lose } = problemsStage();

/** Operations that may run meanwhile. `leaves` is what is there if the operation ends last. */
const OTHERS: Readonly<
  Record<string, { readonly task: () => Promise<NewTask>; readonly leaves: "all" | "no VM" | "nothing" }>
> = {
  "stop --hard": { task: () => action("stop", true), leaves: "no VM" },
  "recreate of one": { task: () => action("recreate"), leaves: "all" },
  "delete-vm": { task: async () => task("delete_vm", { vm_cid: (await db()).vm.cid }), leaves: "all" },
  "a deploy": { task: () => Promise.resolve(DEPLOY), leaves: "all" },
  "deploy --fix": { task: () => Promise.resolve(FIX), leaves: "all" },
  "deploy --recreate": { task: () => Promise.resolve(deployTask(SHOP, { recreate: true })), leaves: "all" },
  "delete-deployment": { task: () => Promise.resolve(deleteTask()), leaves: "nothing" },
  "delete-deployment --force": { task: () => Promise.resolve(deleteTask(true)), leaves: "nothing" },
  "another resurrection": { task: () => heal(), leaves: "all" },
};

const FIX = deployTask(SHOP, { fix: true });

const heal = async (): Promise<NewTask> =>
  task("cck_scan_and_fix", { instances: [(await db()).instance.uuid] });

const action = async (name: string, hard = false): Promise<NewTask> =>
  task("update_instance", {
    ...{ group: "db", instance: (await db()).instance.uuid, action: name, hard },
    ...{ skip_drain: true, ignore_unresponsive_agent: true },
  });

const HARMS = ["its VM is gone", "its agent hangs", "its agent comes back"] as const;

interface Race {
  readonly other: string;
  readonly harm: (typeof HARMS)[number];
  readonly first: "it" | "the other";
  /** The call of the first one at which the second is queued, and the one from which an agent is there again. */
  readonly atCall: number;
  readonly backAt: number;
  /** True if the first is canceled when the second comes. */
  readonly cancelled: boolean;
}

const FURTHEST = 24;
const MOMENTS = 3;

function races(): readonly Race[] {
  const fraction = fractionsOf("moments of resurrections");
  const call = () => 1 + Math.floor(fraction() * FURTHEST);
  return Object.keys(OTHERS).flatMap((other) =>
    HARMS.flatMap((harm) =>
      (["it", "the other"] as const).flatMap((first) =>
        Array.from({ length: MOMENTS }, () => ({
          ...{ other, harm, first, atCall: call(), backAt: call(), cancelled: fraction() < 0.25 },
        })),
      ),
    ),
  );
}

/** The world as the harm leaves it. */
async function harmed({ harm, backAt }: Race): Promise<Interference> {
  const { vm } = await db();
  if (harm === "its VM is gone") {
    lose(vm.cid);
    return {};
  }
  let back = false;
  return {
    cpi: (call, carryOut) => {
      back ||= harm === "its agent comes back" && call.nth >= backAt;
      return carryOut();
    },
    ask: (call, carryOut) => {
      back ||= harm === "its agent comes back" && call.nth >= backAt;
      const hangs = !back && call.peer === "agent" && call.agentId === vm.agentId;
      return hangs ? Promise.resolve({ silent: "it hangs" }) : carryOut();
    },
  };
}

const vmsOfDb = async () =>
  (await stage.bench.remembered()).instances.filter(({ group }) => group === "db").flatMap(({ vms }) => vms);

/** Errors that are expected: no lock in time, or changes made by the other operation meanwhile. */
const EXPECTED =
  /Failed to acquire lock|is locked|does not answer|not responding|no longer|does not exist|not found|Timed out|hangs|cancelled|has no VM|it was asked in vain/;

describe(`a resurrection beside something else, at any moment of either (seed ${seed()})`, () => {
  const cases = sampleOf("races of resurrections", races(), 5);
  const name = "$other, $first first, the second at call $atCall; $harm ($backAt), cancelled: $cancelled";

  it.each(cases)(name, async (race) => {
    const { leaves, task: makeOther } = OTHERS[race.other] ?? { leaves: "all", task: heal };
    const other = await makeOther();
    const resurrection = await heal();
    const { instance, vm } = await db();
    const interference = await harmed(race);
    const [first, second] = race.first === "it" ? [resurrection, other] : [other, resurrection];
    const ended = await stage.bench.runAll([first], {
      seed: JSON.stringify(race),
      interference,
      also: { task: second, atCall: race.atCall },
      ...(race.cancelled && { onQueued: (id, director) => void director.cancel(id) }),
    });
    // Whatever became of them: no second VM, no disk lost or attached twice, and each has come to an end.
    // A VM that was lost may still be recorded, if no task has looked.
    expect((await stage.bench.broken()).filter((one) => !one.includes(vm.cid))).toEqual([]);
    expect(stage.bench.lost()).toEqual([]);
    expect(ended).toHaveLength(2);
    for (const { state, message } of ended)
      if (state === "error") expect(message).toMatch(EXPECTED);
      else expect(["done", "cancelled"]).toContain(state);

    const last = ended[race.first === "it" ? 1 : 0];
    if (leaves === "no VM" && last?.state === "done") {
      // The operator wants it to have no VM: no resurrection gives it one, whenever it comes.
      expect((await run(task("cck_scan_and_fix", { instances: [instance.uuid] }))).changing).toEqual([]);
      expect(await vmsOfDb()).toEqual([]);
      return;
    }
    if (leaves === "nothing" && last?.state === "done") {
      expect((await stage.bench.remembered()).instances).toEqual([]);
      expect([...stage.bench.world.vms.keys()]).toEqual([]);
      return;
    }
    // Otherwise operators get what they want by a deploy that repairs, and then nothing is left to do.
    expect((await run(FIX)).state).toBe("done");
    expect(await whole()).toEqual([]);
    expect((await run(DEPLOY)).changing).toEqual([]);
    expect((await run(await heal())).changing).toEqual([]);
  });
});
