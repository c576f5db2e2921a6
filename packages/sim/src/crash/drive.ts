import { openStore } from "@slipway/director/store/open";
import { simSealer } from "../director/sim-sealer.ts";
import { brokenInvariants } from "../world/invariants.ts";
import type { ChildReport } from "./child-order.ts";
import { readRemembered } from "./remembered.ts";
import type { Scenario } from "./scenarios.ts";
import { type Lab, Stage } from "./stage.ts";

export interface Broken {
  readonly scenario: string;
  /** Its number and name, or the time of the kill. */
  readonly point: string;
  readonly what: readonly string[];
}

/** A scenario brought to the moment before its task, and the points that task passes. */
export interface Prepared {
  readonly scenario: Scenario;
  readonly stage: Stage;
  readonly points: readonly string[];
  /** What the disks in use hold: no crash may change it. */
  readonly data: ReadonlySet<string>;
}

export async function prepare(lab: Lab, scenario: Scenario, name: string): Promise<Prepared> {
  const stage = await Stage.fresh(lab, scenario, name);
  if (scenario.before.length > 0) mustSucceed(await stage.run({ tasks: scenario.before }), scenario.name);
  const rehearsal = await stage.copy(`${name}_rehearsal`);
  const report = await rehearsal.run({ tasks: [scenario.task] });
  mustSucceed(report, scenario.name);
  const broken = await inspect(rehearsal);
  if (broken.length > 0) throw new Error(`${scenario.name} breaks without a crash: ${broken.join("; ")}`);
  await rehearsal.remove();
  const data = new Set([...stage.world.disks.values()].flatMap((disk) => disk.data ?? []));
  return { scenario, stage, points: report === "killed" ? [] : report.names, data };
}

/** One life and death: killed at a point (or after a time), started again, looked at. Undefined: all held. */
export async function survive(
  prepared: Prepared,
  name: string,
  death: { readonly dieAt: number } | { readonly afterMs: number },
): Promise<Broken | undefined> {
  const { scenario, points } = prepared;
  const stage = await prepared.stage.copy(name);
  const dieAt = "dieAt" in death ? death.dieAt : undefined;
  const afterMs = "afterMs" in death ? death.afterMs : undefined;
  const point = dieAt === undefined ? `after ${afterMs} ms` : `${dieAt} ${points[dieAt - 1] ?? ""}`;
  try {
    const what: string[] = [];
    const first = await stage.run({ tasks: [scenario.task], dieAt }, afterMs);
    // Killed before its task was queued, it is asked once more.
    const queued = first === "killed" ? await hasTask(stage, scenario) : true;
    const resumed = await stage.run({ tasks: queued ? [] : [scenario.task] });
    what.push(...failures(resumed), ...(await inspect(stage)), ...lostData(prepared, stage));
    if (scenario.again !== undefined && what.length === 0) {
      const before = JSON.stringify([...stage.world.vms.keys(), ...stage.world.disks.keys()]);
      what.push(...failures(await stage.run({ tasks: [scenario.again] })), ...(await inspect(stage)));
      const after = JSON.stringify([...stage.world.vms.keys(), ...stage.world.disks.keys()]);
      if (before !== after) what.push("a deploy without changes made or removed something");
    }
    return what.length === 0 ? undefined : { scenario: scenario.name, point, what };
  } catch (error) {
    return { scenario: scenario.name, point, what: [error instanceof Error ? error.message : String(error)] };
  } finally {
    await stage.remove();
  }
}

/** Content is on a disk that is in use or in the orphan list: nothing is deleted here. */
function lostData({ data }: Prepared, stage: Stage): readonly string[] {
  const now = new Set([...stage.world.disks.values()].map((disk) => disk.data));
  return [...data].filter((text) => !now.has(text)).map((text) => `data is gone: ${text}`);
}

function mustSucceed(report: ChildReport | "killed", name: string): void {
  const failed = failures(report);
  if (failed.length > 0) throw new Error(`${name} fails without a crash: ${failed.join("; ")}`);
}

function failures(report: ChildReport | "killed"): readonly string[] {
  if (report === "killed") return ["it was killed where it should live"];
  return report.tasks
    .filter(({ state }) => state !== "done")
    .map(({ id, state, result }) => `task ${id} ended as ${state}: ${result}`);
}

async function inspect(stage: Stage): Promise<readonly string[]> {
  const store = await openStore({ sealer: simSealer, connection: stage.connection });
  try {
    return brokenInvariants(stage.world, await readRemembered(store.db));
  } finally {
    await store.close();
  }
}

async function hasTask(stage: Stage, { task, before }: Scenario): Promise<boolean> {
  const store = await openStore({ sealer: simSealer, connection: stage.connection });
  try {
    const rows = await store.db.selectFrom("tasks").select("type").where("type", "=", task.type).execute();
    return rows.length > before.filter(({ type }) => type === task.type).length;
  } finally {
    await store.close();
  }
}
