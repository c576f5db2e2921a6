import { listProblems } from "@slipway/director/store/problems";
import { Sealed } from "@slipway/director/store/sealed";
import { listStrays } from "@slipway/director/store/strays";
import type { ResolutionName } from "@slipway/engine/model/problems";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import { DEPLOY, problemsStage } from "./testing/problems-stage.ts";
import type { Interference } from "./watch-clients.ts";

sampleTests(1 / 4);

const { stage, task, run, scan, apply, db, whole, deaf, lose } = problemsStage();

/** Marks the records as restored from a backup, after which an earlier Director went on. */
const restored = async () => {
  const { id } = await stage.bench.db
    .insertInto("restores")
    .values({ backup: "b", taken_at: new Date(0) })
    .returning("id")
    .executeTakeFirstOrThrow();
  await stage.bench.db.updateTable("deployments").set({ restored: id }).execute();
};

/** Replaces the VM of db without a change of the records. */
async function replaced(): Promise<void> {
  const { vms, disks } = stage.bench.world;
  const { vm, disk } = await db();
  const before = vms.get(vm.cid);
  const attached = disks.get(disk.cid);
  if (before === undefined || attached === undefined) throw new Error("bug: db is not whole");
  vms.delete(vm.cid);
  vms.set("vm-later", { ...before, cid: "vm-later", agentId: "agent-later" });
  attached.attachedTo = "vm-later";
}

async function adopt(name: ResolutionName, interference?: Interference) {
  const problems = await listProblems(stage.bench.db, "shop");
  const resolutions = Object.fromEntries(
    problems.map(({ id, type }) => [id, type.startsWith("unrecorded") ? name : "ignore"]),
  );
  return await run(task("cck_apply", { resolutions }), interference);
}

describe("a VM that no record names", () => {
  it("is in the way of everything that would change its deployment, until it is adopted", async () => {
    await restored();
    await replaced();
    expect(await run(DEPLOY)).toMatchObject({
      state: "error",
      message: expect.stringContaining("cloud-check"),
    });
    expect(await scan()).toEqual(["unrecorded_vm db/0"]);
    expect((await run(DEPLOY)).state).toBe("error");
    const before = await db();
    expect(await adopt("adopt_vm")).toMatchObject({ state: "done", changing: [] });
    const after = await db();
    expect(after.vm).toMatchObject({ cid: "vm-later", agentId: "agent-later", active: true });
    expect(after.disk).toMatchObject({ cid: before.disk.cid, attachedTo: "vm-later" });
    expect(after.instance.vms).toHaveLength(1);
    expect(await scan()).toEqual([]);
    expect((await run(DEPLOY)).state).toBe("done");
    expect((await db()).vm.cid).toBe("vm-later");
    expect(await whole()).toEqual([]);
  });

  it("is left alone by default", async () => {
    await restored();
    await replaced();
    await scan();
    expect((await apply(null)).changing).toEqual([]);
    expect(await scan()).toEqual(["unrecorded_vm db/0"]);
  });

  it.each([
    ["says that it is another instance", (spec: object) => ({ ...spec, id: "another" }), /says that it is/],
    ["says that it is of another deployment", (spec: object) => ({ ...spec, deployment: "bank" }), /bank/],
    ["has never been told what it is", () => ({}), /says that it is/],
  ] as const)("is not adopted when its agent %s", async (_, change, why) => {
    await replaced();
    const later = stage.bench.world.vms.get("vm-later");
    if (later === undefined) throw new Error("bug: no VM");
    later.agent.spec = change(later.agent.spec ?? {}) as never;
    await scan();
    const before = await db();
    expect(await adopt("adopt_vm")).toMatchObject({ state: "error", message: expect.stringMatching(why) });
    expect(await db()).toEqual(before);
  });

  it("is not adopted when its agent is silent, or while the one on record is there", async () => {
    const { vm } = await db();
    const recorded = stage.bench.world.vms.get(vm.cid);
    await replaced();
    await scan();
    const silent = await adopt("adopt_vm", deaf("agent-later"));
    expect(silent).toMatchObject({ state: "error", message: expect.stringContaining("does not answer") });
    if (recorded !== undefined) stage.bench.world.vms.set(vm.cid, recorded);
    await scan();
    const both = await adopt("adopt_vm");
    expect(both).toMatchObject({
      state: "error",
      message: expect.stringContaining("the cloud has that one too"),
    });
    expect((await db()).vm.cid).toBe(vm.cid);
  });
});

describe("a disk that no record names", () => {
  const made = async (attachedTo: string | null) => {
    const { disk } = await db();
    const before = stage.bench.world.disks.get(disk.cid);
    if (before === undefined) throw new Error("bug: no disk");
    stage.bench.world.disks.set("disk-later", { ...before, cid: "disk-later", files: new Map(), attachedTo });
  };

  it("is adopted as inactive if no VM has it", async () => {
    await made(null);
    expect(await scan()).toEqual(["unrecorded_disk db/0"]);
    expect(await adopt("adopt_disk")).toMatchObject({ state: "done", changing: [] });
    const { instance, disk } = await db();
    expect(disk.cid).not.toBe("disk-later");
    expect(instance.disks.map(({ cid, active }) => ({ cid, active }))).toContainEqual({
      cid: "disk-later",
      active: false,
    });
    expect(await scan()).toEqual(["inactive_disk db/0"]);
    expect(stage.bench.world.deleted).toEqual([]);
  });

  it("becomes the active one if the instance's agent has mounted it, and the other becomes inactive", async () => {
    const { vm, disk } = await db();
    await made(vm.cid);
    const real = stage.bench.world.vms.get(vm.cid);
    if (real === undefined) throw new Error("bug: no VM");
    real.agent.store = "disk-later";
    await scan();
    expect((await adopt("adopt_disk")).state).toBe("done");
    const after = await db();
    expect(after.disk).toMatchObject({ cid: "disk-later", attachedTo: vm.cid });
    expect(after.instance.disks.find(({ cid }) => cid === disk.cid)).toMatchObject({ active: false });
    expect(stage.bench.world.disks.has(disk.cid)).toBe(true);
  });

  it("is not adopted if another VM has it", async () => {
    await made("vm-other");
    const { vm } = await db();
    const real = stage.bench.world.vms.get(vm.cid);
    if (real !== undefined)
      stage.bench.world.vms.set("vm-other", { ...real, cid: "vm-other", agentId: "other", metadata: {} });
    await scan();
    expect(await adopt("adopt_disk")).toMatchObject({
      state: "error",
      message: expect.stringContaining("attached to the VM 'vm-other'"),
    });
  });
});

describe("after a restore", () => {
  it("a step that was begun is given up: nothing is repeated, and what it may have made is shown", async () => {
    const { vm, instance } = await db();
    const row = { task_id: 1, scope: "shop", instance_uuid: instance.uuid, restored: true, version: 2 };
    const call = { cpi: "", requestId: "cpi-then", stemcellApiVersion: 3 };
    const stemcell = { name: "sim", version: "1.1", apiVersion: 3 };
    const made = {
      ...{ ...call, instance: instance.uuid, agentId: "agent-then", stemcell, stemcellCid: "stemcell-1" },
      ...{ cloudProperties: {}, vmResources: null, networks: {}, diskCids: [], env: {}, tags: {} },
      ...{ names: ["sim", "shop", "db"], transport: "https" },
    };
    const gone = { ...call, vm: vm.cid, disks: {}, channel: "user-data" };
    await stage.bench.db
      .insertInto("intents")
      .values([
        { ...row, number: 1, step: "delete_vm", intent_sealed: new Sealed(gone) },
        { ...row, number: 2, step: "create_vm", intent_sealed: new Sealed(made) },
      ])
      .execute();
    expect(await run(task("cck_scan", {}))).toMatchObject({ state: "done", changing: [] });
    expect((await stage.bench.remembered()).openIntents).toEqual([]);
    expect(stage.bench.world.vms.has(vm.cid)).toBe(true);
    expect(await listStrays(stage.bench.db)).toMatchObject([
      {
        kind: "vm",
        about: expect.stringContaining("agent-then"),
        why: expect.stringContaining("restored from a backup"),
      },
    ]);
  });

  it("no orphaned disk is deleted while a deployment was not looked at", async () => {
    await restored();
    const clean = {
      type: "delete_orphan_disks",
      description: "x",
      user: "sim",
      params: { disk_cids: [] },
    } as const;
    expect(await run(clean)).toMatchObject({ state: "error", message: expect.stringContaining("shop") });
    lose((await db()).vm.cid);
    await scan();
    expect((await run(clean)).state).toBe("done");
  });
});
