import { listProblems } from "@slipway/director/store/problems";
import { Sealed } from "@slipway/director/store/sealed";
import { listStrays } from "@slipway/director/store/strays";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import { DEPLOY, problemsStage } from "./testing/problems-stage.ts";
import type { Interference } from "./watch-clients.ts";

sampleTests(1 / 4);

const { stage, task, SCAN, run, scan, choose, apply, applied, db, whole, lose, deaf } = problemsStage();

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
    const [first] = await listProblems(stage.bench.db, "shop");
    await scan(silent);
    expect((await listProblems(stage.bench.db, "shop")).map(({ id }) => id)).toEqual([first?.id]);
    expect(await scan()).toEqual([]);
  });

  it("does not look at ignored instances", async () => {
    const { instance, vm } = await db();
    await stage.bench.db
      .updateTable("instances")
      .set({ ignore: true })
      .where("uuid", "=", instance.uuid)
      .execute();
    lose(vm.cid);
    expect(await scan()).toEqual([]);
  });

  it("settles what was begun and never ended before it looks", async () => {
    const { vm, disk } = await db();
    await stage.bench.db
      .insertInto("intents")
      .values({
        task_id: 1,
        number: 1,
        scope: "shop",
        step: "unmount_disk",
        version: 1,
        intent_sealed: new Sealed({ agent: { agentId: vm.agentId, agentUrl: "" }, disks: [disk.cid] }),
      })
      .execute();
    await scan();
    expect((await stage.bench.remembered()).openIntents).toEqual([]);
  });
});

describe("a VM that is gone", () => {
  it.each(["recreate_vm", "recreate_vm_without_wait", null] as const)(
    "is recreated by %s, with the disk and what is on it",
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

  it("is only forgotten by delete_vm_reference, and recreated by the next deploy", async () => {
    const { vm } = await db();
    lose(vm.cid);
    await scan();
    await applied("delete_vm_reference");
    expect(await listStrays(stage.bench.db)).toEqual([]);
    expect(await scan()).toEqual(["missing_vm db/0"]);
    expect((await run(DEPLOY)).state).toBe("done");
    expect(await whole()).toEqual([]);
  });

  it("stays a problem when it is ignored", async () => {
    const { vm } = await db();
    lose(vm.cid);
    await scan();
    await applied("ignore");
    expect(await listProblems(stage.bench.db, "shop")).toEqual([]);
    expect(await scan()).toEqual(["missing_vm db/0"]);
  });

  it("is recreated together with others, and one that cannot be does not hold them up", async () => {
    for (const cid of [...stage.bench.world.vms.keys()]) lose(cid);
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

  it("is found and recreated in one go by a health monitor, for the instances it names", async () => {
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
        call.peer === "agent" && call.agentId === vm.agentId
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
    expect(stage.bench.world.vms.has(vm.cid)).toBe(false);
    expect((await db()).disk.cid).toBe(disk.cid);
    expect(await whole()).toEqual([]);
  });

  it("is deleted, and its disk kept", async () => {
    const { vm } = await db();
    const silent = deaf(vm.agentId);
    await scan(silent);
    await applied("delete_vm", silent);
    expect(stage.bench.world.vms.has(vm.cid)).toBe(false);
    expect(await stage.bench.broken()).toEqual([]);
    expect((await run(DEPLOY)).state).toBe("done");
    expect(await whole()).toEqual([]);
  });

  it("is kept in mind as a stray when only its reference is deleted", async () => {
    const { instances } = await stage.bench.remembered();
    const vm = instances.find(({ group }) => group === "web")?.vms[0];
    if (vm === undefined) throw new Error("bug: no web");
    const silent = deaf(vm.agentId);
    await scan(silent);
    await applied("delete_vm_reference", silent);
    expect(stage.bench.world.vms.has(vm.cid)).toBe(true);
    expect(await listStrays(stage.bench.db)).toMatchObject([
      { kind: "vm", about: expect.stringContaining(vm.cid) },
    ]);
    expect(await stage.bench.broken()).toEqual([]);
  });

  it("is not forgotten while it holds a disk", async () => {
    const { vm } = await db();
    const silent = deaf(vm.agentId);
    await scan(silent);
    const { state, message } = await apply("delete_vm_reference", silent);
    expect({ state, message }).toMatchObject({
      state: "error",
      message: expect.stringMatching(/is attached.*Next: Choose delete_vm or recreate_vm/),
    });
    expect((await db()).vm.cid).toBe(vm.cid);
    expect(await stage.bench.broken()).toEqual([]);
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

describe("what is asked for", () => {
  it("is checked before any of it is done", async () => {
    for (const cid of [...stage.bench.world.vms.keys()]) lose(cid);
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
