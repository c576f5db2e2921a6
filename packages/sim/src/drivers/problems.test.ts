import type { ResolutionName } from "@slipway/director/model/problems";
import { listProblems } from "@slipway/director/store/problems";
import { listStrays } from "@slipway/director/store/strays";
import type { NewTask } from "@slipway/director/tasks/task";
import { systemRandom } from "@slipway/kernel/random";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deployTask } from "../crash/scenarios.ts";
import { seededOrder } from "../crash/seeded.ts";
import { FAULTS, strike } from "./faults.ts";
import { type Interference, nameOf } from "./outside.ts";
import { Bench } from "./testing/bench.ts";

const DEPLOY = deployTask({
  name: "shop",
  groups: [
    { name: "web", instances: 2 },
    { name: "db", instances: 1, disk: "d1" },
  ],
});

/** `SLIPWAY_SEED` repeats a run, `SLIPWAY_DRIVERS=all` takes every fault at every call instead of one of them. */
const seed = process.env.SLIPWAY_SEED ?? systemRandom.hex(4);
const all = process.env.SLIPWAY_DRIVERS === "all";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
  await bench.prepare({ cpi: { remembers: true }, before: [DEPLOY] });
});
afterAll(() => bench.close());
beforeEach(() => bench.rewind());

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
  bench.run(given, { seed: `problems ${runs++}`, interference });

/** What a scan finds: `missing_vm db/0`. */
async function scan(interference?: Interference): Promise<readonly string[]> {
  const { state, message } = await run(SCAN, interference);
  expect(`${state} ${message}`).toBe("done ");
  return (await listProblems(bench.db, "shop")).map(({ type, group, index }) => `${type} ${group}/${index}`);
}

/** The one resolution for all that was found; null: what is done by default. */
async function choose(name: ResolutionName | null): Promise<NewTask> {
  const problems = await listProblems(bench.db, "shop");
  return task("cck_apply", { resolutions: Object.fromEntries(problems.map(({ id }) => [id, name])) });
}
const apply = async (name: ResolutionName | null, interference?: Interference) =>
  run(await choose(name), interference);
async function applied(name: ResolutionName | null, interference?: Interference): Promise<void> {
  const { state, message } = await apply(name, interference);
  expect(`${state} ${message}`).toBe("done ");
}

async function db() {
  const { instances } = await bench.remembered();
  const instance = instances.find(({ group }) => group === "db");
  const vm = instance?.vms.find(({ active }) => active);
  const disk = instance?.disks.find(({ active }) => active);
  if (instance === undefined || vm === undefined || disk === undefined) throw new Error("bug: no db");
  return { instance, vm, disk };
}
const whole = async () => [...(await bench.broken()), ...bench.lost(), ...(await bench.misplaced())];

/** Behind the Director's back. */
function lose(cid: string): void {
  bench.world.vms.delete(cid);
  for (const disk of bench.world.disks.values()) if (disk.attachedTo === cid) disk.attachedTo = null;
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
      is && call.door === "agent" && call.agentId === agentId
        ? Promise.resolve({ silent: "it hangs" })
        : carryOut(),
  };
}

describe("a check of the cloud", () => {
  it("finds nothing where all is well, and changes nothing", async () => {
    const { changing, result } = await run(SCAN);
    expect({ changing, result }).toEqual({ changing: [], result: "scan complete" });
    expect(await scan()).toEqual([]);
  });

  it("keeps the number of what it finds again, and closes what is gone", async () => {
    const { vm } = await db();
    const silent = deaf(vm.agentId);
    expect(await scan(silent)).toEqual(["unresponsive_agent db/0"]);
    const [first] = await listProblems(bench.db, "shop");
    await scan(silent);
    expect((await listProblems(bench.db, "shop")).map(({ id }) => id)).toEqual([first?.id]);
    expect(await scan()).toEqual([]);
  });

  it("does not look at ignored instances", async () => {
    const { instance, vm } = await db();
    await bench.db.updateTable("instances").set({ ignore: true }).where("uuid", "=", instance.uuid).execute();
    lose(vm.cid);
    expect(await scan()).toEqual([]);
  });

  it("settles what was begun and never ended before it looks", async () => {
    const { vm, disk } = await db();
    await bench.db
      .insertInto("intents")
      .values({
        task_id: 1,
        deployment: "shop",
        step: "unmount_disk",
        intent: JSON.stringify({ agent: { agentId: vm.agentId, agentUrl: "" }, disks: [disk.cid] }),
      })
      .execute();
    await scan();
    expect((await bench.remembered()).openIntents).toEqual([]);
  });
});

describe("a VM that is gone", () => {
  it.each(["recreate_vm", "recreate_vm_without_wait", null] as const)(
    "is made anew by %s, with the disk and what is on it",
    async (name) => {
      const before = await db();
      lose(before.vm.cid);
      expect(await scan()).toEqual(["missing_vm db/0"]);
      await applied(name);
      const after = await db();
      expect(after.vm.cid).not.toBe(before.vm.cid);
      expect(after.disk.cid).toBe(before.disk.cid);
      expect(await whole()).toEqual([]);
      expect(await scan()).toEqual([]);
      expect((await run(DEPLOY)).changing).toEqual([]);
    },
  );

  it("is only forgotten by delete_vm_reference, and made anew by the next deploy", async () => {
    const { vm } = await db();
    lose(vm.cid);
    await scan();
    await applied("delete_vm_reference");
    expect(await listStrays(bench.db)).toEqual([]);
    expect(await scan()).toEqual(["missing_vm db/0"]);
    expect((await run(DEPLOY)).state).toBe("done");
    expect(await whole()).toEqual([]);
  });

  it("stays a problem when it is ignored", async () => {
    const { vm } = await db();
    lose(vm.cid);
    await scan();
    await applied("ignore");
    expect(await listProblems(bench.db, "shop")).toEqual([]);
    expect(await scan()).toEqual(["missing_vm db/0"]);
  });

  it("is made anew together with others, and one that cannot be does not hold them up", async () => {
    for (const cid of [...bench.world.vms.keys()]) lose(cid);
    expect(await scan()).toEqual(["missing_vm db/0", "missing_vm web/0", "missing_vm web/1"]);
    let made = 0;
    const { state, message } = await apply("recreate_vm", {
      cpi: ({ method }, carryOut) => {
        if (method !== "create_vm" || ++made !== 2) return carryOut();
        const error = { type: "Bosh::Clouds::CloudError", message: "no room", ok_to_retry: false };
        return Promise.resolve({ result: null, error, log: "" });
      },
    });
    expect(state).toBe("error");
    expect(message).toMatch(/^Error resolving problem '\d+': 'web\/.*no room/);
    expect(await scan()).toHaveLength(1);
    await applied("recreate_vm");
    expect(await whole()).toEqual([]);
  });

  it("is found and made anew in one go by a health monitor, for the instances it names", async () => {
    const { instance, vm } = await db();
    lose(vm.cid);
    const { state } = await run(task("cck_scan_and_fix", { instances: [instance.uuid] }));
    expect(state).toBe("done");
    expect(await whole()).toEqual([]);
  });
});

describe("a VM whose agent is silent", () => {
  it("is left alone by default", async () => {
    const silent = deaf((await db()).vm.agentId);
    await scan(silent);
    const { state, changing } = await apply(null, silent);
    expect({ state, changing }).toEqual({ state: "done", changing: [] });
  });

  it("is rebooted", async () => {
    const { vm } = await db();
    const silent = deaf(vm.agentId);
    expect(await scan(silent)).toEqual(["unresponsive_agent db/0"]);
    await applied("reboot_vm", silent);
    expect((await db()).vm.cid).toBe(vm.cid);
    expect(await whole()).toEqual([]);
    expect(await scan(silent)).toEqual([]);
  });

  it("is said to be still silent after a reboot", async () => {
    const { vm } = await db();
    const dead: Interference = {
      ask: (call, carryOut) =>
        call.door === "agent" && call.agentId === vm.agentId
          ? Promise.resolve({ silent: "it hangs" })
          : carryOut(),
    };
    await scan(dead);
    const { state, message } = await apply("reboot_vm", dead);
    expect(state).toBe("error");
    expect(message).toMatch(/reboot_vm.*does not answer/);
    expect(await scan(dead)).toEqual(["unresponsive_agent db/0"]);
  });

  it("is recreated, and its disk kept", async () => {
    const { vm, disk } = await db();
    const silent = deaf(vm.agentId);
    await scan(silent);
    await applied("recreate_vm", silent);
    expect(bench.world.vms.has(vm.cid)).toBe(false);
    expect((await db()).disk.cid).toBe(disk.cid);
    expect(await whole()).toEqual([]);
  });

  it("is deleted, and its disk kept", async () => {
    const { vm } = await db();
    const silent = deaf(vm.agentId);
    await scan(silent);
    await applied("delete_vm", silent);
    expect(bench.world.vms.has(vm.cid)).toBe(false);
    expect(await bench.broken()).toEqual([]);
    expect((await run(DEPLOY)).state).toBe("done");
    expect(await whole()).toEqual([]);
  });

  it("is kept in mind as a stray when only its reference is deleted", async () => {
    const { instances } = await bench.remembered();
    const vm = instances.find(({ group }) => group === "web")?.vms[0];
    if (vm === undefined) throw new Error("bug: no web");
    const silent = deaf(vm.agentId);
    await scan(silent);
    await applied("delete_vm_reference", silent);
    expect(bench.world.vms.has(vm.cid)).toBe(true);
    expect(await listStrays(bench.db)).toMatchObject([
      { kind: "vm", about: expect.stringContaining(vm.cid) },
    ]);
    expect(await bench.broken()).toEqual([]);
  });

  it("is not forgotten while it holds a disk", async () => {
    const { vm } = await db();
    const silent = deaf(vm.agentId);
    await scan(silent);
    const { state, message } = await apply("delete_vm_reference", silent);
    expect({ state, message }).toMatchObject({
      state: "error",
      message: expect.stringMatching(/is attached/),
    });
    expect((await db()).vm.cid).toBe(vm.cid);
    expect(await bench.broken()).toEqual([]);
  });

  it.each(["reboot_vm", "delete_vm", "delete_vm_reference"] as const)(
    "that answers again meanwhile is not touched by %s",
    async (name) => {
      const { vm } = await db();
      await scan(deaf(vm.agentId));
      const { state, changing } = await apply(name);
      expect({ state, changing }).toEqual({ state: "done", changing: [] });
      expect((await db()).vm.cid).toBe(vm.cid);
    },
  );
});

describe("a disk", () => {
  it.each([
    ["reattach_disk", false],
    ["reattach_disk", true],
    ["reattach_disk_and_reboot", false],
    ["reattach_disk_and_reboot", true],
  ] as const)("that is not mounted is brought back by %s (detached too: %s)", async (name, detached) => {
    const { vm, disk } = await db();
    const real = bench.world.vms.get(vm.cid);
    if (real) real.agent.store = null;
    const there = bench.world.disks.get(disk.cid);
    if (detached && there) there.attachedTo = null;
    expect(await scan()).toEqual(["mount_info_mismatch db/0"]);
    await applied(name);
    expect(await whole()).toEqual([]);
    expect(await scan()).toEqual([]);
  });

  it("that is gone from the cloud can be forgotten, and the next deploy makes another", async () => {
    const { vm, disk } = await db();
    bench.world.disks.delete(disk.cid);
    const real = bench.world.vms.get(vm.cid);
    if (real) real.agent.store = null;
    expect(await scan()).toEqual(["missing_disk db/0"]);
    await applied(null);
    expect((await db()).disk.cid).toBe(disk.cid);
    await scan();
    await applied("delete_disk_reference");
    const { instances, orphanDisks } = await bench.remembered();
    expect(instances.flatMap(({ disks }) => disks)).toEqual([]);
    expect(orphanDisks).toEqual([]);
    expect((await run(DEPLOY)).state).toBe("done");
    expect((await db()).disk.cid).not.toBe(disk.cid);
    expect(await bench.broken()).toEqual([]);
  });

  it("that is there again when it is to be forgotten stays", async () => {
    const { disk } = await db();
    const there = bench.world.disks.get(disk.cid);
    if (there === undefined) throw new Error("bug: no disk");
    bench.world.disks.delete(disk.cid);
    await scan();
    bench.world.disks.set(disk.cid, there);
    await applied("delete_disk_reference");
    expect((await db()).disk.cid).toBe(disk.cid);
    expect(await whole()).toEqual([]);
  });

  it("that is inactive goes to the orphans, never away", async () => {
    await addInactive("disk-left");
    expect(await scan()).toEqual(["inactive_disk db/0"]);
    await applied("delete_disk");
    expect((await bench.remembered()).orphanDisks).toEqual(["disk-left"]);
    expect(bench.world.disks.has("disk-left")).toBe(true);
    expect(bench.world.deleted).toEqual([]);
    expect(await whole()).toEqual([]);
  });

  it("that is inactive cannot take the place of the active one, but an empty one", async () => {
    await addInactive("disk-left");
    await scan();
    const { state, message } = await apply("activate_disk");
    expect({ state, message }).toMatchObject({
      state: "error",
      message: expect.stringMatching(/active disk/),
    });
    const { disk } = await db();
    await bench.db.deleteFrom("persistent_disks").where("cid", "=", disk.cid).execute();
    await applied("activate_disk");
    expect((await db()).disk.cid).toBe("disk-left");
  });
});

describe("what is asked for", () => {
  it("is checked before any of it is done", async () => {
    for (const cid of [...bench.world.vms.keys()]) lose(cid);
    await scan();
    const { state, message, changing } = await apply("reattach_disk");
    expect({ state, changing }).toEqual({ state: "error", changing: [] });
    expect(message).toMatch(/cannot be resolved by 'reattach_disk', only by one of ignore, recreate_vm/);
  });

  it("is skipped when the problem is not open", async () => {
    const { vm } = await db();
    lose(vm.cid);
    await scan();
    const recreate = await choose("recreate_vm");
    expect((await run(recreate)).result).toBe("1 resolved");
    const again = await run(recreate);
    expect({ result: again.result, changing: again.changing }).toEqual({
      result: "0 resolved",
      changing: [],
    });
  });
});

describe(`whatever call fails while problems are resolved, the same task completes the work (seed ${seed})`, () => {
  const lost = async () => lose((await db()).vm.cid);
  const unmounted = async () => {
    const real = bench.world.vms.get((await db()).vm.cid);
    if (real) real.agent.store = null;
  };
  it.each([
    ["recreate_vm", lost],
    ["reattach_disk", unmounted],
    ["reattach_disk_and_reboot", unmounted],
  ] as const)("%s", { timeout: 300_000 }, async (name, harm) => {
    const prepare = async () => {
      await bench.rewind();
      await harm();
      await scan();
      return await choose(name);
    };
    const { calls } = await run(await prepare());
    const broken: string[] = [];
    for (const call of calls) {
      const faults = FAULTS[call.door];
      const [first = 0] = seededOrder(`${seed} ${name} ${call.nth}`, faults.length);
      for (const fault of all ? faults : faults.slice(first, first + 1)) {
        const chosen = await prepare();
        const strikes = strike(call.nth, fault);
        const first = await run(chosen, strikes.interference);
        const where = `${fault} at ${call.nth} (${nameOf(call)})`;
        if (bench.lost().length > 0) broken.push(`${where}: ${bench.lost().join()}`);
        if (first.state === "done") continue;
        const second = await run(chosen);
        if (second.state !== "done") broken.push(`${where}: then ${second.state}: ${second.message}`);
        broken.push(...(await whole()).map((what) => `${where}: ${what}`));
      }
    }
    expect(broken).toEqual([]);
  });
});

async function addInactive(cid: string): Promise<void> {
  const { instance } = await db();
  bench.world.disks.set(cid, { cid, size: 1024, data: null, files: new Map(), attachedTo: null });
  await bench.db
    .insertInto("persistent_disks")
    .values({ instance_id: instance.id, cid, size: 1024, cloud_properties: "{}", cpi: "", active: false })
    .execute();
}
