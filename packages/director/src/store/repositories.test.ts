import { InstanceWriteBuffer } from "@slipway/engine/flows/run-steps";
import { BadWrite } from "@slipway/engine/journal/errors";
import type { Writes } from "@slipway/engine/journal/writes";
import type { GroupName } from "@slipway/engine/model/names";
import type { InstanceRecord } from "@slipway/engine/model/records";
import { systemRandom } from "@slipway/kernel/random";
import type { StemcellCid, VmCid } from "@slipway/protocol/ids";
import { emptied, freshDatabase } from "@slipway/testkit/database";
import { disk, diskCid, vm, vmCid } from "@slipway/testkit/vm-record";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { directorUuid, findAttribute, setAttribute } from "./attributes.ts";
import { saveConfig } from "./configs.ts";
import {
  deleteDeployment,
  ensureDeployment,
  findDeployment,
  listDeployments,
  saveSuccess,
  useStemcells,
} from "./deployments.ts";
import { diskHolder, findOrphanDisk, giveDisk, listOrphanDisks, removeOrphanDisk } from "./disks.ts";
import { DiskInUse, IpTaken, StemcellGone, StemcellInUse } from "./errors.ts";
import { createInstances, findInstance, loadInstances, setIgnore, setState } from "./instances.ts";
import { takenIps } from "./ips.ts";
import { listOrphanedVms, removeOrphanedVm } from "./orphaned-vms.ts";
import type { Db } from "./schema.ts";
import {
  claimStemcell,
  listStemcells,
  mustBeUnused,
  releaseStemcell,
  saveStemcell,
  uploadedTo,
} from "./stemcells.ts";
import { listStrays, removeStray } from "./strays.ts";
import { failure } from "./testing/failure.ts";
import { runningTask } from "./testing/running-task.ts";
import { ip, newInstance, shop, uuid } from "./testing/samples.ts";

let base: Awaited<ReturnType<typeof freshDatabase>>;
let db: Db;
beforeAll(async () => {
  base = await freshDatabase();
  db = base.db;
});
afterAll(() => base.close());
beforeEach(() => emptied(base.connection));

const commit = async (change: (writes: Writes) => void, instance?: InstanceRecord): Promise<void> => {
  const { journal } = await runningTask(db);
  const buffer = new InstanceWriteBuffer(journal, instance);
  buffer.write(change);
  await buffer.flush();
};
const write = async (index: number, change: (writes: Writes) => void): Promise<void> =>
  commit(change, await findInstance(db, "shop", "web", String(index)));
const STEMCELL_CID = "sc-1.1" as StemcellCid;

const jammy = (version: string, more: object = {}) => ({
  name: "jammy",
  version,
  operatingSystem: "ubuntu-jammy",
  cid: `sc-${version}` as StemcellCid,
  cpi: "",
  apiVersion: 3,
  digest: "sha256:aa",
  ...more,
});

describe("deployments", () => {
  it("one name is one deployment, and no two share a canonical name", async () => {
    const first = await ensureDeployment(db, "Shop_a.1");
    expect(await ensureDeployment(db, "Shop_a.1")).toEqual(first);
    const error = await failure(ensureDeployment(db, "shop-a1"));
    expect(error).toMatchObject({
      code: "DIS-042",
      number: 190009,
      message:
        "Invalid deployment name 'shop-a1': the canonical name 'shop-a1' is taken by the deployment 'Shop_a.1'",
    });
  });

  it("are listed by name with what the last success used; a failed first deploy has no manifest", async () => {
    const zoo = await ensureDeployment(db, "zoo");
    await ensureDeployment(db, "apt");
    const [a, b] = [await saveStemcell(db, jammy("1.1")), await saveStemcell(db, jammy("1.2"))];
    const config = await saveConfig(db, { type: "cloud", name: "default", content: "azs: []" });
    if (!config.ok) throw new Error("not saved");
    await useStemcells(db, zoo.id, [a.id]);
    await saveSuccess(db, zoo.id, {
      manifestText: "name: zoo\n",
      configs: [config.config.id],
      stemcells: [b.id],
    });
    expect(await listDeployments(db)).toEqual([
      {
        id: expect.any(Number),
        name: "apt",
        manifestText: null,
        stemcells: [],
        releases: [],
        configs: [],
        teams: [],
      },
      {
        id: zoo.id,
        name: "zoo",
        manifestText: "name: zoo\n",
        stemcells: [{ name: "jammy", version: "1.2" }],
        releases: [],
        configs: [{ id: config.config.id, type: "cloud", name: "default" }],
        teams: [],
      },
    ]);
    expect((await listDeployments(db, ["zoo"])).map(({ name }) => name)).toEqual(["zoo"]);
  });

  it("a success that cannot be recorded whole is not recorded at all", async () => {
    const { id } = await ensureDeployment(db, "shop");
    await failure(saveSuccess(db, id, { manifestText: "new", configs: [999], stemcells: [] }));
    expect(await findDeployment(db, "shop")).toMatchObject({ manifestText: null });
  });

  it("one with instances is not deleted, one without is", async () => {
    const id = await shop(db, newInstance(0));
    expect(BadWrite.is(await failure(deleteDeployment(db, id)))).toBe(true);
    await write(0, (writes) => writes.removeInstance());
    await deleteDeployment(db, id);
    expect(await findDeployment(db, "shop")).toBeUndefined();
  });
});

describe("instances and addresses", () => {
  it("are found by uuid or index in their group only", async () => {
    await shop(
      db,
      newInstance(0),
      newInstance(1),
      newInstance(0, { uuid: uuid("u-db"), group: "db" as GroupName }),
    );
    expect((await findInstance(db, "shop", "web", "1"))?.uuid).toBe("uuid-1");
    expect((await findInstance(db, "shop", "db", "u-db"))?.group).toBe("db");
    expect(await findInstance(db, "shop", "web", "u-db")).toBeUndefined();
    expect(await findInstance(db, "other", "web", "1")).toBeUndefined();
    expect((await loadInstances(db, "shop")).map(({ uuid: id }) => id)).toEqual(["u-db", "uuid-0", "uuid-1"]);
  });

  it("an address that is taken is an error that names the holder, and nothing is created", async () => {
    await shop(db, newInstance(0, { ips: [ip("10.0.0.5")] }));
    await ensureDeployment(db, "zoo");
    const wanted = [
      newInstance(8, { uuid: uuid("z-0"), ips: [ip("10.0.0.4")] }),
      newInstance(9, { uuid: uuid("z-1"), ips: [ip("10.0.0.5")] }),
    ];
    const error = await failure(createInstances(db, "zoo", 2, wanted));
    expect(IpTaken.is(error)).toBe(true);
    expect(String(error)).toContain("10.0.0.5 for z-1 is taken by instance web/uuid-0 of deployment shop");
    expect(await loadInstances(db, "zoo")).toEqual([]);
    expect([...(await takenIps(db, "zoo"))]).toEqual([
      ["10.0.0.5", "instance web/uuid-0 of deployment shop"],
    ]);
    expect([...(await takenIps(db, "shop"))]).toEqual([]);
  });

  it("creating again what is there keeps it and adds the new addresses", async () => {
    await shop(db, newInstance(0, { ips: [ip("10.0.0.5")] }));
    await createInstances(db, "shop", 2, [
      newInstance(0, { state: "stopped", ips: [ip("10.0.0.5"), ip("10.0.0.6")] }),
    ]);
    const [one] = await loadInstances(db, "shop");
    expect(one).toMatchObject({ state: "started", ips: [{ address: "10.0.0.5" }, { address: "10.0.0.6" }] });
  });

  it.each([
    ["a deployment nobody knows", "other", [newInstance(3)]],
    ["one index twice", "shop", [newInstance(3), newInstance(3, { uuid: uuid("again") })]],
    [
      "one address twice",
      "shop",
      [newInstance(3, { ips: [ip("1.1.1.1")] }), newInstance(4, { ips: [ip("1.1.1.1")] })],
    ],
  ])("%s is refused whole", async (_, deployment, wanted) => {
    await shop(db);
    expect(BadWrite.is(await failure(createInstances(db, deployment, 1, wanted)))).toBe(true);
    expect(await loadInstances(db, "shop")).toEqual([]);
  });

  it("one of two deploys that want the same addresses in other orders gets all, and the other is refused", async () => {
    await ensureDeployment(db, "a");
    await ensureDeployment(db, "b");
    const ips = Array.from({ length: 50 }, (_, n) => ip(`10.0.0.${n}`));
    const results = await Promise.all([
      failure(createInstances(db, "a", 1, [newInstance(0, { uuid: uuid("a"), ips })])),
      failure(createInstances(db, "b", 2, [newInstance(0, { uuid: uuid("b"), ips: [...ips].reverse() })])),
    ]);
    expect(results.filter((result) => result === "no error")).toHaveLength(1);
    expect(results.filter((result) => IpTaken.is(result))).toHaveLength(1);
  });

  it("2,000 with VM, disk and addresses are read in one query each way", async () => {
    const many = Array.from({ length: 2000 }, (_, n) =>
      newInstance(n, { ips: [ip(`10.${n >> 8}.${n & 255}.1`)] }),
    );
    await shop(db, ...many);
    const some = many.filter((_, n) => n % 100 === 0);
    for (const { index } of some)
      await write(index, (writes) => {
        writes.addVm(vm(`vm-${index}`, { active: true, env: { of: index } }));
        writes.addDisk(disk(`disk-${index}`));
      });
    const read = await loadInstances(db, "shop");
    expect(read).toHaveLength(2000);
    expect(read.every(({ ips }) => ips.length === 1)).toBe(true);
    const full = read.filter(({ vms, disks }) => vms.length === 1 && disks.length === 1);
    expect(full.map(({ index, vms }) => [index, vms[0]?.cid, vms[0]?.env])).toEqual(
      some.map(({ index }) => [index, `vm-${index}`, { of: index }]),
    );
  });

  it("ignore and state are set, and missing instances reported", async () => {
    await shop(db, newInstance(0));
    expect([await setIgnore(db, "uuid-0", true), await setState(db, "uuid-0", "detached")]).toEqual([
      true,
      true,
    ]);
    expect(await findInstance(db, "shop", "web", "0")).toMatchObject({ ignore: true, state: "detached" });
    expect([await setIgnore(db, "x", true), await setState(db, "x", "started")]).toEqual([false, false]);
  });
});

describe("stemcells", () => {
  it("are one per name, version and CPI; uploading again replaces the cid", async () => {
    const first = await saveStemcell(db, jammy("1.1"));
    const again = await saveStemcell(db, jammy("1.1", { cid: "sc-new" }));
    expect(again).toEqual({ ...first, cid: "sc-new" });
    await saveStemcell(db, jammy("1.1", { cpi: "east" }));
    expect((await listStemcells(db)).map(({ cid, cpi }) => [cid, cpi])).toEqual([
      ["sc-new", ""],
      ["sc-1.1", "east"],
    ]);
    expect(await listStemcells(db, { cpi: "east", name: "jammy", version: "1.1" })).toHaveLength(1);
    expect(await uploadedTo(db, "jammy", "1.1")).toEqual(["", "east"]);
    expect(await uploadedTo(db, "jammy", "1.2")).toEqual([]);
  });

  it("one in use is kept and its users named; one that is not is removed with its upload", async () => {
    const { id } = await saveStemcell(db, jammy("1.1"));
    const deployment = await shop(db);
    await useStemcells(db, deployment, [id]);
    expect((await listStemcells(db))[0]?.deployments).toEqual(["shop"]);
    expect(await failure(mustBeUnused(db, id))).toMatchObject({
      code: "DIS-043",
      number: 50004,
      message: "Stemcell 'jammy/1.1' is still in use by: shop",
    });
    const remove = () => commit((writes) => writes.removeStemcell(STEMCELL_CID, ""));
    expect(BadWrite.is(await failure(remove()))).toBe(true);
    await saveSuccess(db, deployment, { manifestText: "x", configs: [], stemcells: [] });
    await remove();
    await remove();
    expect([await listStemcells(db), await uploadedTo(db, "jammy", "1.1")]).toEqual([[], []]);
  });

  it("a stemcell that a task deletes, or has deleted, cannot be used; one in use cannot be claimed", async () => {
    const { id } = await saveStemcell(db, jammy("1.1"));
    const deployment = await shop(db);
    expect(await claimStemcell(db, id, 7)).toEqual({ again: false });
    expect(await failure(useStemcells(db, deployment, [id]))).toMatchObject({
      message: "task 7 is deleting the stemcell 'jammy/1.1'",
    });
    expect(await claimStemcell(db, id, 8)).toEqual({ again: true });
    await releaseStemcell(db, { id, name: "jammy", version: "1.1", cpi: "" }, 8);
    await useStemcells(db, deployment, [id]);
    expect(StemcellInUse.is(await failure(claimStemcell(db, id, 9)))).toBe(true);
    expect(StemcellGone.is(await failure(useStemcells(db, deployment, [id + 1])))).toBe(true);
  });
});

describe("orphans and strays", () => {
  const orphaned = async (cid: string) => {
    await write(1, (writes) => {
      writes.addDisk(disk(cid));
      writes.orphanDisk(diskCid(cid));
    });
  };

  it("giving an orphan to an instance makes it active and orphans the one it had, at once", async () => {
    await shop(db, newInstance(0), newInstance(1));
    await orphaned("disk-o");
    await write(0, (writes) => writes.addDisk(disk("disk-had")));
    await giveDisk(db, { instance: "uuid-0", cid: diskCid("disk-o"), cpi: "", orphaned: true });
    await giveDisk(db, { instance: "uuid-0", cid: diskCid("disk-o"), cpi: "", orphaned: true });
    expect((await findInstance(db, "shop", "web", "0"))?.disks).toMatchObject([
      { cid: "disk-o", active: true, size: 1024, attachedTo: null, cloudProperties: { type: "gp3" } },
    ]);
    expect((await listOrphanDisks(db)).map(({ cid }) => cid)).toEqual(["disk-had"]);
    expect(await diskHolder(db, "disk-o")).toMatchObject({ deployment: "shop", instance: "web/uuid-0" });
  });

  it("an unknown disk is taken with the properties given; one of another instance is refused", async () => {
    await shop(db, newInstance(0), newInstance(1));
    const properties = { size: 5, cloudProperties: { a: 1 } };
    await giveDisk(db, {
      instance: "uuid-0",
      cid: diskCid("disk-n"),
      cpi: "east",
      orphaned: false,
      properties,
    });
    expect((await findInstance(db, "shop", "web", "0"))?.disks).toMatchObject([
      { cpi: "east", ...properties },
    ]);
    const error = await failure(
      giveDisk(db, { instance: "uuid-1", cid: diskCid("disk-n"), cpi: "", orphaned: false }),
    );
    expect(DiskInUse.is(error)).toBe(true);
    const unknown = await failure(
      giveDisk(db, { instance: "nobody", cid: diskCid("disk-q"), cpi: "", orphaned: false }),
    );
    expect(BadWrite.is(unknown)).toBe(true);
  });

  it("the orphan list is newest first, by age when asked, and forgets what is gone from the cloud", async () => {
    await shop(db, newInstance(1));
    await orphaned("disk-1");
    await orphaned("disk-2");
    const all = await listOrphanDisks(db);
    expect(all.map(({ cid }) => cid)).toEqual(["disk-2", "disk-1"]);
    expect(await listOrphanDisks(db, 1000)).toEqual([]);
    await removeOrphanDisk(db, diskCid("disk-1"));
    expect(await findOrphanDisk(db, "disk-1")).toBeUndefined();
    expect(await findOrphanDisk(db, "disk-2")).toEqual(all[0]);
  });

  it("an orphaned VM that is gone frees its addresses", async () => {
    await shop(db, newInstance(0, { ips: [ip("10.0.0.5")] }));
    await write(0, (writes) => {
      writes.addVm(vm("vm-1"));
      writes.orphanVm(vmCid("vm-1"));
    });
    expect((await takenIps(db, "shop")).size).toBe(1);
    await removeOrphanedVm(db, "vm-1" as VmCid);
    expect([await listOrphanedVms(db), (await takenIps(db, "shop")).size]).toEqual([[], 0]);
  });

  it("strays stay listed until the operator removes them", async () => {
    const stray = {
      kind: "disk",
      cpi: "east",
      requestId: "r-1",
      about: "a disk",
      why: "killed",
      addresses: [],
    } as const;
    await commit((writes) => writes.addStray(stray));
    const [one] = await listStrays(db);
    expect(one).toMatchObject(stray);
    expect([await removeStray(db, one?.id ?? 0), await removeStray(db, one?.id ?? 0)]).toEqual([true, false]);
  });
});

it("the Director's uuid is made once, also when several ask at the same time", async () => {
  const asked = await Promise.all([1, 2, 3, 4].map(() => directorUuid(db, systemRandom)));
  expect(new Set(asked).size).toBe(1);
  await setAttribute(db, "resurrection_paused", "true");
  await setAttribute(db, "resurrection_paused", "false");
  expect(await findAttribute(db, "resurrection_paused")).toBe("false");
  expect(await findAttribute(db, "other")).toBeUndefined();
});
