import { AgentRefused, AgentSilent, WrongAgent } from "@slipway/engine/agents/agent";
import { CpiLost } from "@slipway/engine/clouds/cloud";
import { changeInstance } from "@slipway/engine/flows/run-steps";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import type { Journal } from "@slipway/engine/journal/journal";
import { NO_EFFECTS, type Writes } from "@slipway/engine/journal/writes";
import type { FlowContext } from "@slipway/engine/steps/context";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { freshDatabase } from "@slipway/testkit/database";
import { disk, diskCid, vm, vmCid } from "@slipway/testkit/vm-record";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
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
async function begun(step: string, intent: JsonObject, version = 1): Promise<void> {
  const key = { taskId: journal.taskId, number: journal.newNumber() };
  const open = { ...key, scope: "shop", instance: uuid("uuid-0"), step, version, intent };
  await journal.commit({ effects: NO_EFFECTS, events: [], open });
}
const open = async () => (await journal.openIntents("shop")).map(({ step }) => step);
const disks = async () => (await journal.instance(uuid("uuid-0")))?.disks ?? [];

/** A Director whose only agent and CPI do this. */
const context = (
  given: { readonly agent?: object; readonly cloud?: object; readonly signal?: AbortSignal } = {},
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
  }) as unknown as FlowContext;

describe("steps that were begun and whose outcome nobody has recorded", () => {
  it("of another version are not touched, and said to be of another version", async () => {
    await begun("dance", {});
    await expect(settleOpenIntents(context())).rejects.toThrow(/'dance'/);
    expect(await open()).toHaveLength(1);
  });

  it("of other deployments are left to them", async () => {
    await begun("dance", {});
    expect(await settleOpenIntents({ ...context(), deployment: "store" })).toBe(0);
    expect(await open()).toHaveLength(1);
  });

  it("of a kind that is simply taken again are closed: the plan does that", async () => {
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
