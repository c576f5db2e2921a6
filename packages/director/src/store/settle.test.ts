import { AgentRefused, AgentSilent, WrongAgent } from "@slipway/engine/agents/agent";
import { CpiLost, CpiRefused } from "@slipway/engine/clouds/cloud";
import { changeInstance } from "@slipway/engine/flows/run-steps";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import type { Journal } from "@slipway/engine/journal/journal";
import { NO_EFFECTS, type Writes } from "@slipway/engine/journal/writes";
import type { FlowContext } from "@slipway/engine/steps/context";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { freshDatabase } from "@slipway/testkit/database";
import { disk, diskCid, vm, vmCid } from "@slipway/testkit/vm-record";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { listStrays } from "./strays.ts";
import { runningTask } from "./testing/running-task.ts";
import { newInstance, shop, uuid } from "./testing/samples.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let journal: Journal;
beforeAll(async () => {
  database = await freshDatabase();
  await shop(database.db, newInstance(0));
  ({ journal } = await runningTask(database.db));
  await write((writes) => {
    writes.addVm(vm("vm-1", { active: true, ready: true }));
    writes.addDisk(disk("disk-1"));
    writes.addDisk(disk("disk-2", false));
  });
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.db.deleteFrom("intents").execute();
  await write((writes) => {
    for (const cid of ["disk-1", "disk-2"])
      writes.updateDisk(diskCid(cid), { attachedTo: vmCid("vm-1"), mounted: true });
  });
});

const AGENT = { agentId: "agent-vm-1", agentUrl: "https://10.0.0.5:6868" };
const write = (change: (writes: Writes) => void) => changeInstance(uuid("uuid-0"), { journal }, change);
async function begun(step: string, intent: JsonObject, version = 1, instance = "uuid-0"): Promise<void> {
  const key = { taskId: journal.taskId, number: journal.newNumber() };
  const open = { ...key, scope: "shop", instance: uuid(instance), step, version, intent };
  await journal.commit({ effects: NO_EFFECTS, events: [], open });
}
const open = async () => (await journal.openIntents("shop")).map(({ step }) => step);
const disks = async () => (await journal.instance(uuid("uuid-0")))?.disks ?? [];

/** A Director whose only agent and CPI do this. */
const context = (
  given: {
    readonly agent?: object;
    readonly cloud?: object;
    readonly signal?: AbortSignal;
    readonly warn?: (message: string) => void;
  } = {},
): FlowContext =>
  ({
    journal,
    deployment: "shop",
    signal: given.signal ?? new AbortController().signal,
    debug: () => undefined,
    cpiLog: () => undefined,
    agents: { agent: () => given.agent ?? {} },
    clouds: { cloud: () => given.cloud ?? {} },
    random: { hex: () => "00" },
    clock: { now: () => 0 },
    warn: given.warn,
  }) as unknown as FlowContext;

describe("steps that were begun and whose outcome is not recorded", () => {
  it("are not touched if they are of another version, which the error names", async () => {
    await begun("dance", {});
    await expect(settleOpenIntents(context())).rejects.toThrow(/'dance'/);
    expect(await open()).toHaveLength(1);
  });

  it("are left to their own deployments", async () => {
    await begun("dance", {});
    expect(await settleOpenIntents({ ...context(), deployment: "store" })).toBe(0);
    expect(await open()).toHaveLength(1);
  });

  it("are closed if they can simply be taken again: the plan does that", async () => {
    await begun("unmount_disk", { agent: AGENT, disks: ["disk-1"] });
    expect(await settleOpenIntents(context())).toBe(1);
    expect(await open()).toEqual([]);
  });

  it.each([
    ["has ended: the new disk is the active one", ["disk-2"], [], ["disk-2"]],
    ["has not ended: it is done to its end", ["disk-1", "disk-2"], ["disk-1 to disk-2"], ["disk-2"]],
  ] as const)("a copy that %s", async (_, mounted, copies, active) => {
    const made: string[] = [];
    const agent = {
      listDisk: () => Promise.resolve(mounted),
      migrateDisk: (from: string, to: string) => Promise.resolve(made.push(`${from} to ${to}`)),
    };
    await begun("migrate_disk", { agent: AGENT, from: "disk-1", to: "disk-2" });
    await settleOpenIntents(context({ agent }));
    expect([await open(), made]).toEqual([[], copies]);
    expect((await disks()).filter((one) => one.active).map(({ cid }) => cid)).toEqual(active);
    await write((writes) => writes.switchDisk(diskCid("disk-1")));
  });

  it.each([
    ["does not answer", new AgentSilent("no route")],
    ["refuses", new AgentRefused("not today")],
    ["is another one", new WrongAgent("somebody else")],
  ])("a copy whose agent %s: the disk with the data stays, none is taken to be mounted", async (_, error) => {
    await begun("migrate_disk", { agent: AGENT, from: "disk-1", to: "disk-2" });
    await settleOpenIntents(context({ agent: { listDisk: () => Promise.reject(error) } }));
    expect(await open()).toEqual([]);
    expect((await disks()).map(({ cid, active, mounted }) => [cid, active, mounted])).toEqual([
      ["disk-1", true, false],
      ["disk-2", false, false],
    ]);
  });

  it.each([
    ["what is left, as the CPI says", { system: "/dev/vda", persistent: { "disk-2": "/dev/vdc" } }],
    ["what was known without the disk, when the CPI says nothing", undefined],
  ])("a detach records of the VM's disks %s", async (_, left) => {
    const given: { channel?: unknown } = {};
    const cloud = {
      detachDisk: (_vm: string, _disk: string, options: object) => {
        Object.assign(given, options);
        return Promise.resolve(left);
      },
    };
    const known = { system: "/dev/sda", persistent: { "disk-1": "/dev/sdc" } };
    const call = { requestId: "cpi-1", cpi: "", disks: known, channel: "registry" };
    await begun("detach_disk", { ...call, vm: "vm-1", disk: "disk-1", agent: null }, 2);
    await settleOpenIntents(context({ cloud }));
    const [recorded] = (await journal.instance(uuid("uuid-0")))?.vms ?? [];
    expect(recorded?.disks).toEqual(left ?? { system: "/dev/sda", persistent: {} });
    expect(given.channel).toBe("registry");
  });

  const DELETE = { vm: "vm-1", cpi: "", requestId: "cpi-1" };

  it("stay open when the CPI is lost again: the error names the instance, the step and the cause", async () => {
    await begun("delete_vm", DELETE);
    const cloud = { deleteVm: () => Promise.reject(new CpiLost("delete_vm", "it died")) };
    const failure = await settleOpenIntents(context({ cloud })).catch((error: unknown) => error as Error);
    expect(String(failure)).toMatch(/web\/uuid-0 \(0\)'.*delete_vm/);
    expect(String((failure as Error).cause)).toMatch(/it died/);
    expect(await open()).toHaveLength(1);
  });

  it("stay open when the task is cancelled meanwhile", async () => {
    await begun("delete_vm", DELETE);
    const cancel = new AbortController();
    const cloud = {
      deleteVm: () => {
        cancel.abort(new Error("cancelled"));
        return Promise.reject(new AgentSilent("stopped"));
      },
    };
    await expect(settleOpenIntents(context({ cloud, signal: cancel.signal }))).rejects.toThrow("cancelled");
    expect(await open()).toHaveLength(1);
  });
});

const refusal = (method: string, type = "Bosh::Clouds::CloudError") =>
  new CpiRefused({
    method,
    type,
    errorName: type === "Bosh::Clouds::NotImplemented" ? "NotImplemented" : undefined,
    message: "the cloud is away",
    okToRetry: false,
  });
const refuses = (method: string, type?: string) => () => Promise.reject(refusal(method, type));
const REPEATABLE = { info: () => Promise.resolve({ apiVersion: 2, repeatable: true }) };
const settling = (given: Parameters<typeof context>[0]) =>
  settleOpenIntents(context(given)).catch((error: unknown) => error as Error);

describe("settling a create step", () => {
  const CREATE = {
    requestId: "cpi-lost",
    cpi: "",
    instance: "uuid-0",
    about: "db/uuid-0",
    size: 64,
    cloudProperties: {},
    vm: null,
  };
  beforeEach(async () => {
    await database.db.deleteFrom("strays").execute();
    await begun("create_disk", CREATE);
  });

  it.each([
    ["info", { info: refuses("info") }],
    ["create_disk", { ...REPEATABLE, createDisk: refuses("create_disk") }],
  ])("keeps a create intent open when %s is refused while settling", async (_, cloud) => {
    const failure = await settling({ cloud });
    expect((failure as Error).cause).toMatchObject({ code: "DIF-003" });
    expect(String((failure as Error).cause)).toMatch(/create_disk.*the cloud is away/);
    expect([await open(), await listStrays(database.db)]).toEqual([["create_disk"], []]);
  });

  it("keeps an intent as it was begun when its settling is refused, with a mark of its own", async () => {
    const begunAs = await journal.openIntents("shop");
    await settling({ cloud: { ...REPEATABLE, createDisk: refuses("create_disk") } });
    const [kept] = await journal.openIntents("shop");
    expect([kept?.intent, kept?.settlingRefused]).toEqual([begunAs[0]?.intent, true]);
    expect(begunAs[0]).not.toHaveProperty("settlingRefused");
  });

  it("records the outcome when the next task repeats the refused request", async () => {
    await settling({ cloud: { ...REPEATABLE, createDisk: refuses("create_disk") } });
    const asked: string[] = [];
    const createDisk = (_size: number, _properties: object, _vm: null, options: { requestId: string }) => {
      asked.push(options.requestId);
      return Promise.resolve("disk-found");
    };
    expect(await settling({ cloud: { ...REPEATABLE, createDisk } })).toBe(1);
    expect(asked).toEqual(["cpi-lost"]);
    expect((await disks()).map(({ cid }) => cid)).toContain("disk-found");
    expect([await open(), await listStrays(database.db)]).toEqual([[], []]);
    await write((writes) => writes.orphanDisk(diskCid("disk-found")));
  });

  it("notes a stray and goes on when a second task is refused too", async () => {
    const cloud = { ...REPEATABLE, createDisk: refuses("create_disk") };
    await settling({ cloud });
    const warnings: string[] = [];
    expect(await settling({ cloud, warn: (message) => warnings.push(message) })).toBe(1);
    expect(warnings).toEqual([expect.stringMatching(/create_disk begun earlier.*slipway strays/)]);
    expect(await open()).toEqual([]);
    expect(await listStrays(database.db)).toMatchObject([
      { kind: "disk", requestId: "cpi-lost", why: expect.stringContaining("the cloud is away") },
    ]);
  });

  it("keeps a create intent open for as long as info is refused", async () => {
    for (let time = 0; time < 3; time++) await settling({ cloud: { info: refuses("info") } });
    expect([await open(), await listStrays(database.db)]).toEqual([["create_disk"], []]);
  });

  it("notes a stray for a refused create intent when the operator gives up", async () => {
    const cloud = { ...REPEATABLE, createDisk: refuses("create_disk") };
    await settleOpenIntents(context({ cloud }), { giveUp: true });
    expect([await open(), await listStrays(database.db)]).toMatchObject([[], [{ requestId: "cpi-lost" }]]);
  });

  it("closes a create intent when the CPI does not implement the method", async () => {
    const createDisk = refuses("create_disk", "Bosh::Clouds::NotImplemented");
    expect(await settling({ cloud: { ...REPEATABLE, createDisk } })).toBe(1);
    expect([await open(), await listStrays(database.db)]).toEqual([[], []]);
  });

  it("asks the CPI nothing for an instance that was deleted, and notes what may be left", async () => {
    await database.db.deleteFrom("intents").execute();
    await begun("create_disk", CREATE, 1, "uuid-gone");
    await begun("delete_vm", { vm: "vm-9", cpi: "", requestId: "cpi-1" }, 1, "uuid-gone");
    expect(await settling({ cloud: {} })).toBe(2);
    expect([await open(), await listStrays(database.db)]).toMatchObject([
      [],
      [{ requestId: "cpi-lost", why: expect.stringContaining("its instance was deleted") }],
    ]);
  });

  it("settles the other intents when one is refused", async () => {
    await begun("delete_vm", { vm: "vm-9", cpi: "", requestId: "cpi-1" });
    const cloud = { ...REPEATABLE, createDisk: refuses("create_disk"), deleteVm: refuses("delete_vm") };
    const hasVm = () => Promise.resolve(true);
    expect(await settling({ cloud: { ...cloud, hasVm } })).toBeInstanceOf(Error);
    expect(await open()).toEqual(["create_disk"]);
  });
});

describe("settling a delete_vm step", () => {
  const settled = async (cloud: object) => {
    await begun("delete_vm", { vm: "vm-1", cpi: "", requestId: "cpi-1" });
    const result = await settling({ cloud: { deleteVm: refuses("delete_vm"), ...cloud } });
    return { result, open: await open(), vms: (await journal.instance(uuid("uuid-0")))?.vms.length };
  };

  it("closes a refused delete_vm intent when the cloud still has the VM", async () => {
    expect(await settled({ hasVm: () => Promise.resolve(true) })).toEqual({ result: 1, open: [], vms: 1 });
  });

  it("keeps a refused delete_vm intent open while has_vm is refused too", async () => {
    expect(await settled({ hasVm: refuses("has_vm") })).toMatchObject({
      result: expect.any(Error),
      open: ["delete_vm"],
      vms: 1,
    });
    expect(
      await settling({ cloud: { deleteVm: refuses("delete_vm"), hasVm: refuses("has_vm") } }),
    ).toBeInstanceOf(Error);
    expect(await open()).toEqual(["delete_vm"]);
  });
});

describe("settling an attach_disk step", () => {
  const ATTACH = { requestId: "cpi-1", cpi: "", vm: "vm-1", disk: "disk-1" };
  beforeEach(async () => {
    await write((writes) => writes.updateDisk(diskCid("disk-1"), { attachedTo: null, mounted: false }));
    await begun("attach_disk", ATTACH, 2);
  });

  it("gives up an attach_disk intent only when it is refused a second time", async () => {
    const cloud = { attachDisk: refuses("attach_disk"), detachDisk: refuses("detach_disk") };
    expect(await settling({ cloud })).toBeInstanceOf(Error);
    expect(await open()).toEqual(["attach_disk"]);
    expect(await settling({ cloud })).toBe(1);
    expect(await open()).toEqual([]);
  });

  it("closes an attach_disk intent when the CPI detaches the disk and refuses to attach it", async () => {
    const cloud = { attachDisk: refuses("attach_disk"), detachDisk: () => Promise.resolve(undefined) };
    expect(await settling({ cloud })).toBe(1);
    expect(await open()).toEqual([]);
  });
});

describe("settling a detach_disk step", () => {
  it("detaches a disk while settling although its agent is silent", async () => {
    const call = { requestId: "cpi-1", cpi: "", disks: {}, channel: "user-data" };
    await begun("detach_disk", { ...call, vm: "vm-1", disk: "disk-1", agent: AGENT }, 2);
    const cloud = { detachDisk: () => Promise.resolve(undefined) };
    const agent = { removePersistentDisk: () => Promise.reject(new AgentSilent("no route")) };
    expect(await settling({ cloud, agent })).toBe(1);
    expect((await disks()).find(({ cid }) => cid === "disk-1")?.attachedTo).toBeNull();
  });
});
