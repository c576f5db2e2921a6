import { changeInstance, InstanceWriteBuffer } from "@slipway/engine/flows/run-steps";
import { BadWrite, InstanceHolds } from "@slipway/engine/journal/errors";
import type { IntentRecord, Journal } from "@slipway/engine/journal/journal";
import { NO_EFFECTS, type Writes } from "@slipway/engine/journal/writes";
import type { InstanceRecord } from "@slipway/engine/model/records";
import { errorText } from "@slipway/kernel/errors";
import type { AgentId } from "@slipway/protocol/ids";
import { emptied, freshDatabase } from "@slipway/testkit/database";
import { disk, diskCid, vm, vmCid } from "@slipway/testkit/vm-record";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findOrphanDisk } from "./disks.ts";
import { StoreLost } from "./errors.ts";
import { createInstances, loadInstances } from "./instances.ts";
import { takenIps } from "./ips.ts";
import { LeaseLost } from "./lease.ts";
import { listOrphanedVms } from "./orphaned-vms.ts";
import { listStrays, removeStray } from "./strays.ts";
import { failure } from "./testing/failure.ts";
import { runningTask } from "./testing/running-task.ts";
import { ip, newInstance, shop, uuid } from "./testing/samples.ts";

let base: Awaited<ReturnType<typeof freshDatabase>>;
let journal: Journal;
const web = uuid("uuid-0");

beforeAll(async () => {
  base = await freshDatabase();
});
afterAll(() => base.close());
beforeEach(async () => {
  await emptied(base.connection);
  ({ journal } = await runningTask(base.db));
  await shop(base.db, newInstance(0, { ips: [ip("10.0.0.5"), ip("10.0.0.6")] }), newInstance(1));
});

const write = (change: (writes: Writes) => void, instance = web) =>
  changeInstance(instance, { journal }, change);
const NOTHING = { effects: NO_EFFECTS, events: [] };

async function intend(
  step = "create_vm",
  intent: IntentRecord["intent"] = { request: "r-1", n: 1 },
): Promise<IntentRecord> {
  const open: IntentRecord = {
    taskId: journal.taskId,
    number: journal.newNumber(),
    scope: "shop",
    instance: web,
    step,
    version: 1,
    intent,
  };
  await journal.commit({ ...NOTHING, open });
  return open;
}

/** Ends the intent with all it changes, as a step does. */
async function close(
  intent: IntentRecord,
  change: (writes: Writes) => void = () => undefined,
): Promise<void> {
  const buffer = new InstanceWriteBuffer(journal, await read());
  buffer.completeIntent(intent);
  buffer.write(change);
  await buffer.flush();
}

const read = async () => {
  const found = await journal.instance(web);
  if (found === undefined) throw new Error("the instance is gone");
  return found;
};

/** Numbers of VMs and disks are the database's own. */
const withoutIds = (instance: InstanceRecord | undefined) => ({
  ...instance,
  vms: instance?.vms.map(({ id: _, ...one }) => one),
  disks: instance?.disks.map(({ id: _, ...one }) => one),
});

describe("intents", () => {
  it("are open, oldest first, until they are closed, and another deployment does not see them", async () => {
    const first = await intend();
    const second = await intend("attach_disk");
    expect(await journal.openIntents("shop")).toEqual([first, second]);
    expect(await journal.openIntents("other")).toEqual([]);
    await close(first);
    expect(await journal.openIntents("shop")).toEqual([second]);
  });

  it("are gone once closed, and closing a closed one changes nothing, whatever comes with it", async () => {
    const intent = await intend();
    await close(intent, (writes) => writes.addVm(vm("vm-1")));
    await close(intent, (writes) => writes.removeVm(vmCid("vm-1")));
    expect((await read()).vms).toHaveLength(1);
    expect(await base.db.selectFrom("intents").selectAll().execute()).toEqual([]);
  });

  it.each<[string, (writes: Writes) => void]>([
    ["a VM nobody knows", (writes) => writes.updateVm(vmCid("vm-x"), { ready: true })],
    ["a disk nobody knows", (writes) => writes.orphanDisk(diskCid("disk-x"))],
    ["a rule of the tables", (writes) => writes.addVm(vm("vm-2", { agentId: "agent-vm-1" as AgentId }))],
    [
      "a second active VM",
      (writes) => {
        writes.activateVm(vmCid("vm-1"));
        writes.addVm(vm("vm-2", { active: true }));
      },
    ],
    ["an instance that holds something", (writes) => writes.removeInstance()],
  ])("an outcome that fails at %s leaves the intent open and makes none of its changes", async (_, spoil) => {
    await write((writes) => writes.addVm(vm("vm-1")));
    const intent = await intend();
    const before = await read();
    const error = await failure(
      close(intent, (writes) => {
        writes.updateVm(vmCid("vm-1"), { agentUrl: "https://changed" });
        spoil(writes);
        writes.updateInstance({ updateCompleted: true });
      }),
    );
    expect(BadWrite.is(error) || InstanceHolds.is(error), errorText(error)).toBe(true);
    expect(await read()).toEqual(before);
    expect(await journal.openIntents("shop")).toEqual([intent]);
    // The connection is as good as new.
    await close(intent);
    expect(await journal.openIntents("shop")).toEqual([]);
  });

  it("a callback that throws sends nothing", async () => {
    const intent = await intend();
    const thrown = await failure(
      close(intent, (writes) => {
        writes.addVm(vm("vm-1"));
        throw new Error("no");
      }),
    );
    expect(String(thrown)).toBe("Error: no");
    expect(await journal.openIntents("shop")).toEqual([intent]);
    expect((await read()).vms).toEqual([]);
  });

  it("a connection cut in the middle is an outside error with a code, and the next one works", async () => {
    const cut = sql`select pg_terminate_backend(pg_backend_pid())`.execute(base.db);
    const error = await failure(cut);
    expect(StoreLost.is(error), errorText(error)).toBe(true);
    expect((await read()).uuid).toBe(web);
  });

  it("many at once are all kept", async () => {
    const opened = await Promise.all(Array.from({ length: 200 }, () => intend()));
    expect(await journal.openIntents("shop")).toHaveLength(200);
    await Promise.all(opened.map((intent) => close(intent)));
    expect(await journal.openIntents("shop")).toEqual([]);
  });
});

describe("VMs", () => {
  it("are read back as they were added, by instance, cid and agent", async () => {
    const one = vm("vm-1", { certificateUntil: null, active: true, disks: { ephemeral: "/dev/sdb" } });
    await write((writes) => writes.addVm(one));
    const instance = await read();
    expect(instance.vms).toEqual([{ ...one, id: expect.any(Number) }]);
    expect(await journal.ownerOf({ vm: vmCid("vm-1") })).toEqual(instance);
    expect(await journal.ownerOf({ agent: "agent-vm-1" as AgentId })).toEqual(instance);
    expect(await journal.ownerOf({ vm: vmCid("vm-2") })).toBeUndefined();
    expect(await loadInstances(base.db, "shop")).toContainEqual(instance);
  });

  it("one change after the other ends as all of them at once, in the database as in hand", async () => {
    const steps: ((writes: Writes) => void)[] = [
      (writes) => writes.addVm(vm("vm-1", { active: true })),
      (writes) => writes.addVm(vm("vm-2")),
      (writes) => writes.activateVm(vmCid("vm-2")),
      (writes) =>
        writes.updateVm(vmCid("vm-2"), { ready: true, networks: {}, disks: {}, certificateUntil: 5 }),
      (writes) => writes.removeVm(vmCid("vm-1")),
      (writes) => writes.addDisk(disk("disk-1")),
      (writes) => writes.addDisk(disk("disk-2", false)),
      (writes) => writes.updateDisk(diskCid("disk-1"), { attachedTo: vmCid("vm-2"), hint: "/dev/sdb" }),
      (writes) => writes.updateDisk(diskCid("disk-2"), { cid: diskCid("disk-3"), size: 9 }),
      (writes) => writes.switchDisk(diskCid("disk-3")),
      (writes) => writes.orphanDisk(diskCid("disk-1")),
      (writes) => writes.updateInstance({ keepIps: ["10.0.0.6"], state: "detached" }),
    ];
    const buffer = new InstanceWriteBuffer(journal, await read());
    for (const step of steps) {
      buffer.write(step);
      await buffer.flush();
      expect(withoutIds(await read())).toEqual(withoutIds(buffer.instance));
    }
    const end = withoutIds(await read());
    expect(end).toMatchObject({
      vms: [{ cid: "vm-2", active: true, ready: true }],
      disks: [{ cid: "disk-3", size: 9, active: true }],
      ips: [{ address: "10.0.0.6" }],
    });
    buffer.write((writes) => writes.orphanVm(vmCid("vm-2")));
    await buffer.flush();
    expect((await read()).vms).toEqual([]);
  });

  it("removing one clears what was attached to it in our records, and only that", async () => {
    const hint = { path: "/dev/sdb" };
    await write((writes) => {
      writes.addVm(vm("vm-1"));
      writes.addDisk(disk("disk-1"));
      writes.updateDisk(diskCid("disk-1"), { attachedTo: vmCid("vm-1"), hint, mounted: true });
      writes.addDisk(disk("disk-2", false));
      writes.updateDisk(diskCid("disk-2"), { attachedTo: vmCid("vm-9"), hint, mounted: true });
    });
    await write((writes) => writes.removeVm(vmCid("vm-1")));
    const { disks } = await read();
    expect(disks[0]).toMatchObject({ attachedTo: null, hint: null, mounted: false });
    expect(disks[1]).toMatchObject({ attachedTo: "vm-9", hint, mounted: true });
  });

  it("an orphaned one takes its own addresses with it, and leaves those of its successor", async () => {
    await write((writes) => {
      writes.addVm(vm("vm-old", { networks: { a: { ip: "10.0.0.5" }, b: { type: "dynamic" } } }));
      writes.addVm(vm("vm-new", { networks: { a: { ip: "10.0.0.6" } } }));
      writes.orphanVm(vmCid("vm-old"));
    });
    expect((await read()).ips.map((one) => one.address)).toEqual(["10.0.0.6"]);
    expect(await listOrphanedVms(base.db)).toMatchObject([
      { cid: "vm-old", az: "z1", deployment: "shop", instance: "web/uuid-0", ips: ["10.0.0.5"] },
    ]);
    expect([...(await takenIps(base.db, "shop"))]).toEqual([
      ["10.0.0.5", "orphaned VM vm-old of deployment shop"],
    ]);
  });
});

describe("an orphaned VM", () => {
  it.each([
    ["registry", 1],
    ["user-data", 2],
  ] as const)("made with %s is deleted as one of stemcell version %d", async (channel, told) => {
    await write((writes) => {
      const stemcell = { name: "s", version: "1", apiVersion: 2 };
      writes.addVm(vm("vm-old", { channel, stemcell }));
      writes.orphanVm(vmCid("vm-old"));
    });
    expect(await listOrphanedVms(base.db)).toMatchObject([{ cid: "vm-old", stemcellApiVersion: told }]);
  });
});

describe("disks", () => {
  it("an orphaned one is on the orphan list with where it came from, and nowhere else", async () => {
    await write((writes) => {
      writes.addDisk(disk("disk-1"));
      writes.orphanDisk(diskCid("disk-1"));
    });
    expect((await read()).disks).toEqual([]);
    expect(await findOrphanDisk(base.db, "disk-1")).toMatchObject({
      cid: "disk-1",
      size: 1024,
      cloudProperties: { type: "gp3" },
      az: "z1",
      deployment: "shop",
      instance: "web/uuid-0",
    });
  });

  it("one on the orphan list cannot become an instance's by a write", async () => {
    await write((writes) => {
      writes.addDisk(disk("disk-1"));
      writes.orphanDisk(diskCid("disk-1"));
      writes.addDisk(disk("disk-2"));
    });
    for (const spoil of [
      (writes: Writes) => writes.addDisk(disk("disk-1", false)),
      (writes: Writes) => writes.updateDisk(diskCid("disk-2"), { cid: diskCid("disk-1") }),
    ])
      expect(BadWrite.is(await failure(write(spoil)))).toBe(true);
  });

  it("one cannot be added to a second instance", async () => {
    await write((writes) => writes.addDisk(disk("disk-1")));
    const error = await failure(write((writes) => writes.addDisk(disk("disk-1")), uuid("uuid-1")));
    expect(BadWrite.is(error)).toBe(true);
  });

  it.each(["/dev/sdb", { path: "/dev/sdb", extra: { n: 1 } }])(
    "a hint %j comes back as it went in",
    async (hint) => {
      await write((writes) => {
        writes.addDisk(disk("disk-1"));
        writes.updateDisk(diskCid("disk-1"), { hint });
      });
      expect((await read()).disks[0]?.hint).toEqual(hint);
    },
  );
});

describe("instances", () => {
  it("one that holds a VM and a disk is not removed, and the error names both", async () => {
    await write((writes) => {
      writes.addVm(vm("vm-1"));
      writes.addDisk(disk("disk-1"));
    });
    const error = await failure(write((writes) => writes.removeInstance()));
    expect(errorText(error)).toContain(
      "the instance uuid-0 cannot be removed while it has the VM vm-1, the disk disk-1",
    );
    await write((writes) => {
      writes.removeVm(vmCid("vm-1"));
      writes.orphanDisk(diskCid("disk-1"));
      writes.removeInstance();
    });
    expect(await journal.instance(web)).toBeUndefined();
    await createInstances(base.db, "shop", 2, [newInstance(2, { ips: [ip("10.0.0.5")] })]);
  });

  it("keep what an update says", async () => {
    const spec = {
      networks: {},
      persistentDisk: null,
      tags: { a: 1 },
      configurationHash: "h",
      vmType: "small",
    };
    await write((writes) =>
      writes.updateInstance({
        az: null,
        bootstrap: false,
        updateCompleted: true,
        spec,
        state: "stopped",
      }),
    );
    expect(await read()).toMatchObject({
      az: null,
      bootstrap: false,
      updateCompleted: true,
      spec,
      state: "stopped",
    });
    expect((await read()).ips).toHaveLength(2);
    await write((writes) => writes.updateInstance({ keepIps: [] }));
    expect((await read()).ips).toEqual([]);
  });
});

describe("a stray", () => {
  it("keeps the addresses it may answer at, until it is cleared; noted twice it is listed once", async () => {
    const stray = {
      kind: "vm",
      cpi: "",
      requestId: "r-1",
      about: "a VM",
      why: "the CPI was lost",
      addresses: ["10.0.0.5"],
    } as const;
    await write((writes) => writes.addStray(stray));
    await write((writes) => writes.addStray(stray));
    expect((await read()).ips.map(({ address }) => address)).toEqual(["10.0.0.6"]);
    const [listed, ...more] = await listStrays(base.db);
    expect([listed, more]).toMatchObject([stray, []]);
    expect([...(await takenIps(base.db, "shop"))]).toEqual([
      ["10.0.0.5", `stray ${listed?.id}, a VM that may still run (a VM)`],
    ]);
    await removeStray(base.db, listed?.id ?? 0);
    expect([...(await takenIps(base.db, "shop"))]).toEqual([]);
  });
});

describe("secrets", () => {
  it("are not in the tables in plain text, be it in intents or in the env of VMs", async () => {
    await intend("create_vm", { env: { bosh: { password: "CANARY-1" } } });
    await write((writes) => writes.addVm(vm("vm-1", { env: { bosh: { password: "CANARY-2" } } })));
    const { rows } = await sql`select (select json_agg(i) from intents i)::text
      || (select json_agg(v) from vms v)::text as everything`.execute(base.db);
    expect(JSON.stringify(rows)).toContain("vm-1");
    expect(JSON.stringify(rows)).not.toContain("CANARY");
    expect((await journal.openIntents("shop"))[0]?.intent).toEqual({
      env: { bosh: { password: "CANARY-1" } },
    });
    expect((await read()).vms[0]?.env).toEqual({ bosh: { password: "CANARY-2" } });
  });
});

describe("a run of a task that was taken over", () => {
  it("writes nothing any more: no intent, no outcome, no change", async () => {
    const intent = await intend();
    await base.db.updateTable("tasks").set({ lease_owner: "another", attempts: 2 }).execute();
    const before = await read();
    for (const late of [
      () => intend("delete_vm"),
      () => close(intent, (writes) => writes.addVm(vm("vm-1"))),
      () => write((writes) => writes.updateInstance({ updateCompleted: true })),
    ])
      expect(LeaseLost.is(await failure(late()))).toBe(true);
    expect(await read()).toEqual(before);
    expect(await base.db.selectFrom("intents").select("step").execute()).toEqual([{ step: "create_vm" }]);
  });
});
