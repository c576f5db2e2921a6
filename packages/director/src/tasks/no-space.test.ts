import { systemClock } from "@slipway/kernel/clock";
import { freshDatabase } from "@slipway/testkit/database";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { Db } from "../store/schema.ts";
import { deploymentLock } from "./locks.ts";
import { emptyTables, eventsOf, newTask, queued, runnersOf, stateOf } from "./testing/stage.ts";

let db: Db;
let close: () => Promise<void>;
const runners = runnersOf(() => db);
beforeAll(async () => {
  ({ db, close } = await freshDatabase());
});
afterAll(() => close());
beforeEach(() => emptyTables(db));
afterEach(async () => {
  await runners.stopAll();
  expect(runners.errors.splice(0)).toEqual([]);
});

const FULL = "No space left in the state directory: 3 MiB are free, 64 MiB are needed";
const reaches = (id: number, state: string) => expect.poll(() => stateOf(db, id)).toBe(state);
const messages = async (id: number) =>
  (await eventsOf(db, id)).map(({ message, error }) => message ?? error?.message);
const full = () => Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });

function disk(now: string | undefined) {
  const state = { shortage: now, last: Number.NEGATIVE_INFINITY };
  return {
    shortage: () => state.shortage,
    shortageSince: (moment: number) => (state.last >= moment ? FULL : state.shortage),
    fill: () => {
      state.shortage = FULL;
      state.last = systemClock.monotonic();
    },
    free: () => {
      state.shortage = undefined;
    },
  };
}

it("a task that needs space is not begun without any: it says what it waits for, and begins when there is some", async () => {
  const space = disk(FULL);
  const ran: string[] = [];
  const work = (name: string) => async () => {
    ran.push(name);
    return "";
  };
  const works = { update_deployment: work("deploy"), delete_deployment: work("delete"), vms: work("vms") };
  const deploy = await queued(db);
  const runner = runners.start(works, { space });
  const quick = await queued(db, "vms");
  const deletion = await queued(db, "delete_deployment");
  await reaches(quick, "done");
  await reaches(deletion, "done");
  expect(ran.sort()).toEqual(["delete", "vms"]);
  expect([await stateOf(db, deploy), await messages(deploy)]).toEqual([
    "queued",
    [`${FULL}. The task waits.`],
  ]);
  expect(await messages(deletion)).toEqual([]);
  space.free();
  runner.wake();
  await reaches(deploy, "done");
  expect(await messages(deploy)).toEqual([`${FULL}. The task waits.`]);
});

it("a task that runs out of space has not failed: it keeps its lock, waits, and goes on when there is some", async () => {
  const space = disk(undefined);
  let attempts = 0;
  const runner = runners.start(
    {
      update_deployment: (_, task) =>
        task.withLock(deploymentLock("shop"), 0, () =>
          task.stage("S").step("a", async () => {
            attempts += 1;
            if (attempts > 1) return "";
            space.fill();
            throw new Error("the sandbox did not start: it said nothing");
          }),
        ),
    },
    { space },
  );
  const id = await runner.enqueue(newTask());
  await expect.poll(() => messages(id)).toContain(`${FULL}. The task waits and goes on by itself.`);
  await expect
    .poll(() =>
      db.selectFrom("tasks").select(["state", "lease_owner"]).where("id", "=", id).executeTakeFirst(),
    )
    .toEqual({ state: "processing", lease_owner: null });
  expect(await db.selectFrom("locks").select("task_id").execute()).toEqual([{ task_id: id }]);
  expect(attempts).toBe(1);
  space.free();
  await reaches(id, "done");
  expect((await eventsOf(db, id)).some(({ state }) => state === "failed")).toBe(false);
});

it("a shortage that comes to light when there is space again does not fail the task either", async () => {
  const space = disk(undefined);
  let attempts = 0;
  const runner = runners.start(
    {
      update_deployment: async () => {
        attempts += 1;
        if (attempts > 1) return "";
        space.fill();
        space.free();
        throw full();
      },
    },
    { space },
  );
  const id = await runner.enqueue(newTask());
  await reaches(id, "done");
  expect(await messages(id)).toContain(`${FULL}. The task waits and goes on by itself.`);
});

it("a shortage before the task began does not excuse it", async () => {
  const space = disk(undefined);
  space.fill();
  space.free();
  const runner = runners.start({ update_deployment: () => Promise.reject(full()) }, { space });
  await reaches(await runner.enqueue(newTask()), "error");
});

it("a task that waits for space can be canceled, begun or not", async () => {
  const space = disk(FULL);
  const runner = runners.start({ update_deployment: async () => "" }, { space });
  const waiting = await runner.enqueue(newTask());
  await expect.poll(() => messages(waiting)).toHaveLength(1);
  await runner.cancel(waiting);
  expect(await messages(waiting)).toEqual([`${FULL}. The task waits.`, `Task ${waiting} cancelled`]);
  const begun = await queued(db);
  await db.updateTable("tasks").set({ state: "processing", attempts: 1 }).where("id", "=", begun).execute();
  await runner.cancel(begun);
  await reaches(begun, "cancelled");
});

it("a disk that is full elsewhere, such as one of a VM, ends the task with an error", async () => {
  const runner = runners.start(
    { update_deployment: () => Promise.reject(full()) },
    { space: disk(undefined) },
  );
  await reaches(await runner.enqueue(newTask()), "error");
});
