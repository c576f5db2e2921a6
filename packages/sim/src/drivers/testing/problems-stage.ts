import { listProblems } from "@slipway/director/store/problems";
import type { NewTask } from "@slipway/director/tasks/task";
import type { ResolutionName } from "@slipway/engine/model/problems";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { deployTask } from "../../crash/scenarios/tasks.ts";
import type { ManifestSketch } from "../../director/manifests.ts";
import type { Interference } from "../watch-clients.ts";
import { Bench } from "./bench.ts";

export const SHOP: ManifestSketch = {
  name: "shop",
  groups: [
    { name: "web", instances: 2 },
    { name: "db", instances: 1, disk: "d1" },
  ],
};
export const DEPLOY = deployTask(SHOP);

/** A deployment for every test of a file, the ways to harm it, and cloud-check's tasks. */
export function problemsStage() {
  const stage = {} as { bench: Bench };
  beforeAll(async () => {
    stage.bench = await Bench.open();
    await stage.bench.prepare({ cpi: { remembers: true }, before: [DEPLOY] });
  });
  afterAll(() => stage.bench.close());
  beforeEach(() => stage.bench.rewind());

  const task = (type: NewTask["type"], params: object): NewTask => ({
    type,
    description: type,
    user: "sim",
    deployment: "shop",
    params: { deployment: "shop", ...params },
  });
  const SCAN = task("cck_scan", {});
  let runs = 0;
  const run = (given: NewTask, interference: Interference = {}) =>
    stage.bench.run(given, { seed: `problems ${runs++}`, interference });

  /** Scans and returns the problems, such as `missing_vm db/0`. */
  async function scan(interference?: Interference): Promise<readonly string[]> {
    const { state, message } = await run(SCAN, interference);
    expect(`${state} ${message}`).toBe("done ");
    return (await listProblems(stage.bench.db, "shop")).map(
      ({ type, group, index }) => `${type} ${group}/${index}`,
    );
  }

  /** The one resolution for all that was found; null: what is done by default. */
  async function choose(name: ResolutionName | null): Promise<NewTask> {
    const problems = await listProblems(stage.bench.db, "shop");
    return task("cck_apply", { resolutions: Object.fromEntries(problems.map(({ id }) => [id, name])) });
  }
  const apply = async (name: ResolutionName | null, interference?: Interference) =>
    run(await choose(name), interference);
  async function applied(name: ResolutionName | null, interference?: Interference): Promise<void> {
    const { state, message } = await apply(name, interference);
    expect(`${state} ${message}`).toBe("done ");
  }

  async function db() {
    const { instances } = await stage.bench.remembered();
    const instance = instances.find(({ group }) => group === "db");
    const vm = instance?.vms.find(({ active }) => active);
    const disk = instance?.disks.find(({ active }) => active);
    if (instance === undefined || vm === undefined || disk === undefined) throw new Error("bug: no db");
    return { instance, vm, disk };
  }
  const whole = async () => [
    ...(await stage.bench.broken()),
    ...stage.bench.lost(),
    ...(await stage.bench.misplaced()),
  ];

  /** Behind the Director's back. */
  function lose(cid: string): void {
    stage.bench.world.vms.delete(cid);
    for (const disk of stage.bench.world.disks.values()) if (disk.attachedTo === cid) disk.attachedTo = null;
  }
  /** An agent that answers nothing until its VM is rebooted or replaced. */
  function deaf(agentId: string): Interference {
    let is = true;
    return {
      cpi: ({ method }, carryOut) => {
        if (method === "reboot_vm") is = false;
        return carryOut();
      },
      ask: (call, carryOut) =>
        is && call.peer === "agent" && call.agentId === agentId
          ? Promise.resolve({ silent: "it hangs" })
          : carryOut(),
    };
  }
  async function addInactive(cid: string): Promise<void> {
    const { instance } = await db();
    stage.bench.world.disks.set(cid, { cid, size: 1024, data: null, files: new Map(), attachedTo: null });
    await stage.bench.db
      .insertInto("persistent_disks")
      .values({ instance_id: instance.id, cid, size: 1024, cloud_properties: "{}", cpi: "", active: false })
      .execute();
  }

  return { stage, task, SCAN, run, scan, choose, apply, applied, db, whole, lose, deaf, addInactive };
}
