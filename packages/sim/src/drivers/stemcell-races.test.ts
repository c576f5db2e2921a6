import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { listStemcells, noteUpload, uploadedTo } from "@slipway/director/store/stemcells";
import type { NewTask } from "@slipway/director/tasks/task";
import { CpiLost } from "@slipway/engine/clouds/cloud";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { stemcellFile } from "../crash/scenarios/stemcell-file.ts";
import { deployTask, shop, taskOf, web } from "../crash/scenarios/tasks.ts";
import { cpiError } from "./faults.ts";
import { Bench } from "./testing/bench.ts";
import { runHolding } from "./testing/run-holding.ts";
import type { Interference, OutsideCall } from "./watch-clients.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());

const deploy = deployTask(shop(web(1)));
const deletion = taskOf("delete_stemcell", { name: "sim", version: "1.1", force: false });
const cleanUp = taskOf("delete_artifacts", { remove_all: true, keep_orphaned_disks: false });
const isDeletion = ({ method }: OutsideCall) => method === "delete_stemcell";
const answering = (answer: () => ReturnType<typeof cpiError>): Interference => ({
  cpi: async (call, carryOut) => (isDeletion(call) ? answer() : await carryOut()),
});

let runs = 0;
const seed = () => {
  runs += 1;
  return `stemcell race ${runs}`;
};
const run = async (task: NewTask, interference: Interference = {}) => {
  const { state, message } = await bench.run(task, { seed: seed(), interference });
  return `${state} ${message}`;
};
const upload = async () => {
  const path = join(bench.uploadsDir, "stemcell.tgz");
  await writeFile(path, await stemcellFile("sim", "1.1"));
  return await run(taskOf("update_stemcell", { path, fix: false }));
};

describe("a stemcell that is deleted", () => {
  beforeAll(() => bench.prepare({ cpi: { remembers: true }, before: [] }));
  beforeEach(() => bench.rewind());
  const skippedBy = (cpi: string, name = "sim") => noteUpload(bench.db, { name, version: "1.1", cpi });

  it.each([
    ["delete-stemcell", deletion],
    ["clean-up --all", cleanUp],
  ])("needs an upload again after %s, also for a CPI that skipped it", async (_, task) => {
    await skippedBy("other");
    expect(await run(task)).toBe("done ");
    expect(await uploadedTo(bench.db, "sim", "1.1")).toEqual([]);
  });

  it("needs an upload again if all CPIs skipped it", async () => {
    await skippedBy("other", "skipped");
    const ended = await run(taskOf("delete_stemcell", { name: "skipped", version: "1.1", force: false }));
    expect(ended).toMatch(/^error .*doesn't exist/);
    expect(await uploadedTo(bench.db, "skipped", "1.1")).toEqual([]);
  });
});

describe("a stemcell that one task deletes and a deploy uses", () => {
  beforeAll(() => bench.prepare({ cpi: { remembers: true }, before: [] }));
  beforeEach(() => bench.rewind());
  const recorded = async () => (await listStemcells(bench.db)).map(({ version }) => version);

  it.each([
    ["delete-stemcell", deletion],
    ["clean-up --all", cleanUp],
  ])("is not deployed once %s has begun to delete it", async (_, task) => {
    const [ended, other] = await runHolding(bench, task, { at: isDeletion, run: deploy, seed: seed() });
    expect([ended.state, ended.message]).toEqual(["done", ""]);
    expect(other.state).toBe("error");
    expect(other.message).toMatch(/stemcell/i);
    expect([bench.world.vms.size, bench.world.stemcells.size, await recorded()]).toEqual([0, 0, []]);
  });

  it.each([
    ["delete-stemcell", deletion, "error"],
    ["clean-up --all", cleanUp, "done"],
  ])("is kept by %s while a deploy makes VMs of it", async (_, task, state) => {
    const [ended, other] = await runHolding(bench, deploy, {
      at: ({ method }) => method === "create_vm",
      run: task,
      seed: seed(),
    });
    expect([ended.state, ended.message]).toEqual(["done", ""]);
    expect(other.state).toBe(state);
    expect([bench.world.stemcells.size, await recorded()]).toEqual([1, ["1.1"]]);
  });

  it("is uploaded again after a deletion whose outcome is unknown, and not deployed before", async () => {
    const lost = () => {
      throw new CpiLost("delete_stemcell", "it ended without an answer");
    };
    expect(await run(deletion, answering(lost))).toMatch(/^error /);
    expect(await recorded()).toEqual(["1.1"]);
    expect(await run(deploy)).toMatch(/^error .*stemcell/is);
    expect(await uploadedTo(bench.db, "sim", "1.1")).toEqual([]);
    const [before] = bench.world.stemcells;
    expect(await upload()).toBe("done ");
    expect([...bench.world.stemcells]).toEqual([expect.not.stringMatching(new RegExp(`^${before}$`))]);
    expect(await run(deploy)).toBe("done ");
    expect(await bench.broken()).toEqual([]);
  });

  it("can be deployed after a deletion that the CPI refused", async () => {
    const refused = () => cpiError("Bosh::Clouds::CloudError", "a VM uses it");
    expect(await run(deletion, answering(refused))).toMatch(/^error .*a VM uses it/);
    expect(await uploadedTo(bench.db, "sim", "1.1")).toEqual([""]);
    expect(await run(deploy)).toBe("done ");
  });
});
