import type { IntentRecord, Journal, Writes } from "@slipway/engine/flows/journal";
import { errorText } from "@slipway/kernel/errors";
import type { AgentId } from "@slipway/protocol/ids";
import { freshDatabase } from "@slipway/testkit/database";
import { disk, diskCid, vm, vmCid } from "@slipway/testkit/vm-record";
import { beforeEach, describe, expect, it } from "vitest";
import { findOrphanDisk } from "./disks.ts";
import { BadWrite, InstanceHolds, StoreLost } from "./errors.ts";
import { createInstances, loadInstances } from "./instances.ts";
import { takenIps } from "./ips.ts";
import { openJournal } from "./journal.ts";
import { listOrphanedVms } from "./orphaned-vms.ts";
import { listStrays } from "./strays.ts";
import { failure } from "./testing/failure.ts";
import { ip, newInstance, shop, uuid } from "./testing/samples.ts";

let base: Awaited<ReturnType<typeof freshDatabase>>;
let journal: Journal;
const web = uuid("uuid-0");

beforeEach(async () => {
  base = await freshDatabase();
  journal = openJournal(base.store);
  await shop(base.db, newInstance(0, { ips: [ip("10.0.0.5"), ip("10.0.0.6")] }), newInstance(1));
  return () => base.close();
});

const intend = (step = "create_vm"): Promise<IntentRecord> =>
  journal.open({ taskId: 7, deployment: "shop", instance: web, step, intent: { request: "r-1", n: 1 } });
const read = async () => {
  const found = await journal.instance(web);
  if (found === undefined) throw new Error("the instance is gone");
  return found;
};

describe("intents", () => {
  it("are open, oldest first, until they are closed, and another deployment does not see them", async () => {
    const first = await intend();
    const second = await intend("attach_disk");
    expect(await journal.openIntents("shop")).toEqual([first, second]);
    expect(await journal.openIntents("other")).toEqual([]);
    await journal.close(first.id, "done");
    expect(await journal.openIntents("shop")).toEqual([second]);
  });

  it("closing a closed one changes nothing, whatever comes with it", async () => {
    const { id } = await intend();
    await journal.close(id, "done", (writes) => writes.addVm(web, vm("vm-1")));
    await journal.close(id, "failed", (writes) => writes.removeVm(vmCid("vm-1")));
    expect((await read()).vms).toHaveLength(1);
    const row = await base.db.selectFrom("intents").select("state").executeTakeFirst();
    expect(row?.state).toBe("done");
  });

  it.each<[string, (writes: Writes) => void]>([
    ["a VM nobody knows", (writes) => writes.updateVm(vmCid("vm-x"), { ready: true })],
    ["an instance nobody knows", (writes) => writes.addVm(uuid("nobody"), vm("vm-2"))],
    ["a disk nobody knows", (writes) => writes.orphanDisk(diskCid("disk-x"))],
    ["a rule of the tables", (writes) => writes.addVm(web, vm("vm-2", { agentId: "agent-vm-1" as AgentId }))],
    [
      "a second active VM",
      (writes) => {
        writes.activateVm(vmCid("vm-1"));
        writes.addVm(web, vm("vm-2", { active: true }));
      },
    ],
    ["an instance that holds something", (writes) => writes.removeInstance(web)],
  ])("an outcome that fails at %s leaves the intent open and makes none of its changes", async (_, spoil) => {
    await journal.write((writes) => writes.addVm(web, vm("vm-1")));
    const intent = await intend();
    const before = await read();
    const error = await failure(
      journal.close(intent.id, "done", (writes) => {
        writes.updateVm(vmCid("vm-1"), { agentUrl: "https://changed" });
        spoil(writes);
        writes.updateInstance(web, { updateCompleted: true });
      }),
    );
    expect(BadWrite.is(error) || InstanceHolds.is(error), errorText(error)).toBe(true);
    expect(await read()).toEqual(before);
    expect(await journal.openIntents("shop")).toEqual([intent]);
    // The connection is as good as new.
    await journal.close(intent.id, "failed");
    expect(await journal.openIntents("shop")).toEqual([]);
  });

  it("a callback that throws sends nothing", async () => {
    const intent = await intend();
    const thrown = await failure(
      journal.close(intent.id, "done", (writes) => {
        writes.addVm(web, vm("vm-1"));
        throw new Error("no");
      }),
    );
    expect(String(thrown)).toBe("Error: no");
    expect(await journal.openIntents("shop")).toEqual([intent]);
    expect((await read()).vms).toEqual([]);
  });

  it("a connection cut in the middle is an outside error with a code, and the next one works", async () => {
    const cut = base.store.together([
      { sql: "select pg_terminate_backend(pg_backend_pid())", parameters: [] },
      { sql: "select 1", parameters: [] },
    ] as unknown as Parameters<typeof base.store.together>[0]);
    const error = await failure(cut);
    expect(StoreLost.is(error), errorText(error)).toBe(true);
    expect((await read()).uuid).toBe(web);
  });

  it("many at once are all kept", async () => {
    const opened = await Promise.all(Array.from({ length: 200 }, () => intend()));
    await Promise.all(
      opened.map(({ id }, n) => journal.close(id, "done", (writes) => writes.addVm(web, vm(`vm-${n}`)))),
    );
    expect((await read()).vms).toHaveLength(200);
    expect(await journal.openIntents("shop")).toEqual([]);
  });
});

describe("VMs", () => {
  it("are read back as they were added, by instance, cid and agent", async () => {
    const one = vm("vm-1", { certificateUntil: null, active: true, disks: { ephemeral: "/dev/sdb" } });
    await journal.write((writes) => writes.addVm(web, one));
    const instance = await read();
    expect(instance.vms).toEqual([{ ...one, id: expect.any(Number) }]);
    expect(await journal.ownerOf({ vm: vmCid("vm-1") })).toEqual(instance);
    expect(await journal.ownerOf({ agent: "agent-vm-1" as AgentId })).toEqual(instance);
    expect(await journal.ownerOf({ vm: vmCid("vm-2") })).toBeUndefined();
    expect(await loadInstances(base.db, "shop")).toContainEqual(instance);
  });

  it("each change may be repeated", async () => {
    const steps: ((writes: Writes) => void)[] = [
      (writes) => writes.addVm(web, vm("vm-1", { active: true })),
      (writes) => writes.addVm(web, vm("vm-2")),
      (writes) => writes.activateVm(vmCid("vm-2")),
      (writes) =>
        writes.updateVm(vmCid("vm-2"), { ready: true, networks: {}, disks: {}, certificateUntil: 5 }),
      (writes) => writes.removeVm(vmCid("vm-1")),
      (writes) => writes.addDisk(web, disk("disk-1")),
      (writes) => writes.addDisk(web, disk("disk-2", false)),
      (writes) => writes.updateDisk(diskCid("disk-1"), { attachedTo: vmCid("vm-2"), hint: "/dev/sdb" }),
      (writes) => writes.updateDisk(diskCid("disk-2"), { cid: diskCid("disk-3"), size: 9 }),
      (writes) => writes.switchDisk(diskCid("disk-3")),
      (writes) => writes.orphanDisk(diskCid("disk-1")),
      (writes) => writes.orphanVm(vmCid("vm-2")),
      (writes) => writes.updateInstance(web, { keepIps: ["10.0.0.6"], state: "detached" }),
      (writes) =>
        writes.addStray({ kind: "vm", cpi: "", requestId: "r-1", about: "a VM", why: "the CPI was lost" }),
    ];
    for (const step of steps) {
      await journal.write(step);
      const once = [await read(), await listOrphanedVms(base.db), await listStrays(base.db)];
      await journal.write(step);
      expect([await read(), await listOrphanedVms(base.db), await listStrays(base.db)]).toEqual(once);
    }
    const end = await read();
    expect(end.vms).toEqual([]);
    expect(end.disks).toMatchObject([{ cid: "disk-3", size: 9, active: true }]);
    expect(end.ips.map((one) => one.address)).toEqual(["10.0.0.6"]);
  });

  it("removing one clears what was attached to it in our records, and only that", async () => {
    const hint = { path: "/dev/sdb" };
    await journal.write((writes) => {
      writes.addVm(web, vm("vm-1"));
      writes.addDisk(web, disk("disk-1"));
      writes.updateDisk(diskCid("disk-1"), { attachedTo: vmCid("vm-1"), hint, mounted: true });
      writes.addDisk(web, disk("disk-2", false));
      writes.updateDisk(diskCid("disk-2"), { attachedTo: vmCid("vm-9"), hint, mounted: true });
    });
    await journal.write((writes) => writes.removeVm(vmCid("vm-1")));
    const { disks } = await read();
    expect(disks[0]).toMatchObject({ attachedTo: null, hint: null, mounted: false });
    expect(disks[1]).toMatchObject({ attachedTo: "vm-9", hint, mounted: true });
  });

  it("an orphaned one takes its own addresses with it, and leaves those of its successor", async () => {
    await journal.write((writes) => {
      writes.addVm(web, vm("vm-old", { networks: { a: { ip: "10.0.0.5" }, b: { type: "dynamic" } } }));
      writes.addVm(web, vm("vm-new", { networks: { a: { ip: "10.0.0.6" } } }));
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

describe("disks", () => {
  it("an orphaned one is on the orphan list with where it came from, and nowhere else", async () => {
    await journal.write((writes) => {
      writes.addDisk(web, disk("disk-1"));
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
    await journal.write((writes) => {
      writes.addDisk(web, disk("disk-1"));
      writes.orphanDisk(diskCid("disk-1"));
      writes.addDisk(web, disk("disk-2"));
    });
    for (const spoil of [
      (writes: Writes) => writes.addDisk(uuid("uuid-1"), disk("disk-1")),
      (writes: Writes) => writes.updateDisk(diskCid("disk-2"), { cid: diskCid("disk-1") }),
    ])
      expect(BadWrite.is(await failure(journal.write(spoil)))).toBe(true);
  });

  it("one cannot be added to a second instance", async () => {
    await journal.write((writes) => writes.addDisk(web, disk("disk-1")));
    const error = await failure(journal.write((writes) => writes.addDisk(uuid("uuid-1"), disk("disk-1"))));
    expect(BadWrite.is(error)).toBe(true);
  });

  it.each(["/dev/sdb", { path: "/dev/sdb", extra: { n: 1 } }])(
    "a hint %j comes back as it went in",
    async (hint) => {
      await journal.write((writes) => {
        writes.addDisk(web, disk("disk-1"));
        writes.updateDisk(diskCid("disk-1"), { hint });
      });
      expect((await read()).disks[0]?.hint).toEqual(hint);
    },
  );
});

describe("instances", () => {
  it("one that holds a VM and a disk is not removed, and the error names both", async () => {
    await journal.write((writes) => {
      writes.addVm(web, vm("vm-1"));
      writes.addDisk(web, disk("disk-1"));
    });
    const error = await failure(journal.write((writes) => writes.removeInstance(web)));
    expect(errorText(error)).toContain(
      "the instance uuid-0 cannot be removed while it has the VM vm-1, the disk disk-1",
    );
    await journal.write((writes) => {
      writes.removeVm(vmCid("vm-1"));
      writes.orphanDisk(diskCid("disk-1"));
      writes.removeInstance(web);
    });
    expect(await journal.instance(web)).toBeUndefined();
    await createInstances(base.db, "shop", 2, [newInstance(2, { ips: [ip("10.0.0.5")] })]);
    await journal.write((writes) => writes.removeInstance(web));
  });

  it("keep what an update says", async () => {
    const spec = {
      networks: {},
      persistentDisk: null,
      tags: { a: 1 },
      configurationHash: "h",
      vmType: "small",
    };
    await journal.write((writes) =>
      writes.updateInstance(web, {
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
    await journal.write((writes) => writes.updateInstance(web, { keepIps: [] }));
    expect((await read()).ips).toEqual([]);
  });
});
