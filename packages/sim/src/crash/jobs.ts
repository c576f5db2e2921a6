import type { Call } from "@slipway/director/api/call";
import { putInstanceGroupsIgnore } from "@slipway/director/api/endpoints/put_instance_groups_ignore";
import { accessOf } from "@slipway/director/api/permissions";
import type { Services } from "@slipway/director/api/services";
import type { Store } from "@slipway/director/store/open";
import { readOutput } from "@slipway/director/tasks/output";
import type { TaskRunner } from "@slipway/director/tasks/runner";
import { type Clock, systemClock } from "@slipway/kernel/clock";
import type { EndedTask, InterruptedTask, Job } from "./child-order.ts";
import type { IgnoreOrder } from "./scenario.ts";
import { type MonitorParts, watchUntilWell } from "./watch-until-well.ts";

const RUNNING = ["queued", "processing", "cancelling"] as const;

/**
 * Does the jobs, one after the other, after what the Director finds unfinished. Of a Director that finds nothing the first
 * task is queued before it looks for work: it then takes the same way each time.
 */
export async function doJobs(
  store: Store,
  director: TaskRunner,
  { jobs, cancels }: { readonly jobs: readonly Job[]; readonly cancels?: boolean | undefined },
  monitor: MonitorParts,
): Promise<void> {
  if (await isBusy(store)) {
    if (cancels === true) await director.cancelMany({ states: RUNNING });
    director.start();
    await idle(store);
  }
  for (const job of jobs) {
    if ("ignore" in job) {
      await ignore(store, job.ignore);
      continue;
    }
    if ("monitor" in job) {
      await watchUntilWell(store, director, monitor);
      await idle(store);
      continue;
    }
    await director.enqueue(job.task);
    director.start();
    await idle(store);
  }
}

export const endedTasks = (store: Store): Promise<readonly EndedTask[]> =>
  store.db.selectFrom("tasks").select(["id", "state", "result"]).orderBy("id").execute();

/** Tasks that took more than one run. */
export async function interruptedTasks({ db }: Store): Promise<readonly InterruptedTask[]> {
  const found = await db
    .selectFrom("tasks")
    .select(["id", "attempts as runs"])
    .where("attempts", ">", 1)
    .orderBy("id")
    .execute();
  return await Promise.all(
    found.map(async (task) => ({
      ...task,
      warnings: warningsIn((await readOutput(db, task.id, "event")).data),
    })),
  );
}

/** Returns the warnings among the events of a task. */
const warningsIn = (events: Buffer): readonly string[] =>
  events
    .toString()
    .split("\n")
    .filter((line) => line.includes('"type":"warning"'))
    .map((line) => String((JSON.parse(line) as { message?: unknown }).message));

async function isBusy(store: Store): Promise<boolean> {
  const open = await store.db.selectFrom("tasks").select("id").where("state", "in", RUNNING).execute();
  return open.length > 0;
}

async function idle(store: Store): Promise<void> {
  while (await isBusy(store)) await systemClock.sleep(5);
}

/** Calls the endpoint itself, which uses no more of its arguments than this. */
async function ignore({ db }: Store, order: IgnoreOrder): Promise<void> {
  const { deployment, group, instance } = order;
  const call: Omit<Call, "stream"> = {
    params: { deployment, group, index: instance },
    query: {},
    user: "sim",
    access: accessOf(["bosh.admin"], ""),
    requestId: "",
    header: (name) => (name === "content-type" ? "application/json" : undefined),
    text: () => Promise.resolve(JSON.stringify({ ignore: order.ignore })),
    json: () => Promise.resolve({ ignore: order.ignore }),
  };
  await putInstanceGroupsIgnore.answer(call as Call, { db } as Services);
}

/** A clock that is ahead of another. */
export const laterClock = (clock: Clock, byMs: number): Clock => ({
  now: () => clock.now() + byMs,
  monotonic: () => clock.monotonic(),
  sleep: (ms, signal) => clock.sleep(ms, signal),
  after: (ms, callback) => clock.after(ms, callback),
});
