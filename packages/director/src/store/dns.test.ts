import { groupKey } from "@slipway/engine/jobs/dns/ids";
import { freshDatabase } from "@slipway/testkit/database";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { seedShop, WEB_0, WEB_1 } from "../api/testing/seed.ts";
import { deleteDeployment, ensureDeployment } from "./deployments.ts";
import {
  agentsBehind,
  dnsVersionOf,
  instancesWithNames,
  latestDns,
  noteDnsVersion,
  renewDns,
} from "./dns.ts";
import { dnsIds, giveDnsIds, withProvisional } from "./dns-ids.ts";
import type { Db } from "./schema.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: Db;
beforeEach(async () => {
  database = await freshDatabase();
  ({ db } = database);
});
afterEach(() => database.close());

const web = { type: "instance-group", name: "web", deployment: "shop" } as const;
const link = { type: "link", name: "web", deployment: "shop" } as const;

describe("numbers in DNS", () => {
  it("are given once and stay, and nothing but what is new uses one up", async () => {
    await ensureDeployment(db, "shop");
    const named = { azs: ["z2", "z1", "z2"], networks: ["private"], groups: [web, link] };
    await giveDnsIds(db, named);
    const first = await dnsIds(db);
    expect([...first.azs]).toEqual([
      ["z1", 1],
      ["z2", 2],
    ]);
    expect(first.groups.size).toBe(2);
    for (let times = 0; times < 3; times += 1) await giveDnsIds(db, named);
    await giveDnsIds(db, { azs: ["z3"], networks: [], groups: [] });
    expect([...(await dnsIds(db)).azs]).toEqual([
      ["z1", 1],
      ["z2", 2],
      ["z3", 3],
    ]);
    expect((await dnsIds(db)).groups).toEqual(first.groups);
  });

  it("go with the deployment of a group, and a missing deployment gets none", async () => {
    const { id } = await ensureDeployment(db, "shop");
    await giveDnsIds(db, { azs: [], networks: [], groups: [web, { ...web, deployment: "nowhere" }] });
    expect([...(await dnsIds(db)).groups.keys()]).toEqual([groupKey(web)]);
    await deleteDeployment(db, id);
    expect((await dnsIds(db)).groups.size).toBe(0);
  });

  it("are read for some deployments only where that is asked", async () => {
    await seedShop(db);
    await ensureDeployment(db, "other");
    await giveDnsIds(db, { azs: [], networks: [], groups: [web, { ...web, deployment: "other" }] });
    const { groups, instances } = await dnsIds(db, ["other"]);
    expect([groups.size, instances.size]).toEqual([1, 0]);
    expect([...(await dnsIds(db, ["shop"])).instances.keys()].sort()).toEqual([WEB_0, WEB_1]);
  });

  it("are unused ones for a plan, and are not stored", async () => {
    await ensureDeployment(db, "shop");
    await giveDnsIds(db, { azs: ["z1"], networks: [], groups: [] });
    const ids = withProvisional(await dnsIds(db), { azs: ["z1", "z2"], networks: [], groups: [web] }, [
      "new",
    ]);
    expect([...ids.azs.values()]).toEqual([1, 2]);
    expect(ids.instances.get("new")).toBe(1);
    expect((await dnsIds(db)).azs.size).toBe(1);
  });
});

describe("the records", () => {
  it("are a new version when they change, and only then; versions only go up", async () => {
    expect(await latestDns(db)).toBeUndefined();
    const first = await renewDns(db, async () => "one");
    const same = await renewDns(db, async () => "one");
    const other = await renewDns(db, async () => "two");
    const back = await renewDns(db, async () => "one");
    expect(same.now).toEqual(first.now);
    expect(other.before).toEqual(first.now);
    expect(other.now.version).toBeGreaterThan(first.now.version);
    expect(back.now.version).toBeGreaterThan(other.now.version);
    expect(await latestDns(db)).toEqual(back.now);
  });

  it("are made one after the other if requested at the same time, the last from the newest state", async () => {
    let state = 0;
    let inside = 0;
    const make = async () => {
      inside += 1;
      expect(inside).toBe(1);
      const content = `state ${state}`;
      state += 1;
      await db.selectFrom("vms").select("id").execute();
      inside -= 1;
      return content;
    };
    await Promise.all(Array.from({ length: 5 }, () => renewDns(db, make)));
    expect((await latestDns(db))?.content).toBe("state 4");
  });
});

describe("instances", () => {
  beforeEach(() => seedShop(db));
  const networks = (value: object) =>
    db
      .updateTable("vms")
      .set({ networks: JSON.stringify(value) })
      .where("cid", "=", "vm-1")
      .execute();

  it("are found where their VM is, by network; one that is stopped for good is found nowhere", async () => {
    await networks({ b: { type: "dynamic", ip: "10.9.0.4" }, a: { type: "manual", ip: "10.0.0.2" }, c: {} });
    expect(await instancesWithNames(db)).toEqual([
      {
        deployment: "shop",
        group: "web",
        uuid: WEB_0,
        index: 0,
        az: "z1",
        agentId: "ag-1",
        addresses: [
          { network: "a", ip: "10.0.0.2" },
          { network: "b", ip: "10.9.0.4" },
        ],
      },
    ]);
  });

  it("are found at their own addresses if they have no VM", async () => {
    await db.deleteFrom("persistent_disks").execute();
    await db.deleteFrom("vms").execute();
    expect(await instancesWithNames(db)).toMatchObject([
      { uuid: WEB_0, agentId: null, addresses: [{ network: "a", ip: "10.0.0.2" }] },
    ]);
  });

  it("have no names while they compile", async () => {
    await db.updateTable("instances").set({ compilation: true }).execute();
    expect(await instancesWithNames(db)).toEqual([]);
    expect(await agentsBehind(db, 1)).toEqual([]);
  });

  it("are listed if their agents are behind and can be asked", async () => {
    expect(await agentsBehind(db, 3)).toEqual([]);
    await db.updateTable("vms").set({ ready: true }).execute();
    expect(await agentsBehind(db, 3)).toEqual([{ agentId: "ag-1", agentUrl: "https://10.0.0.2:6868" }]);
    await noteDnsVersion(db, ["ag-1"], 3);
    expect([await agentsBehind(db, 3), (await agentsBehind(db, 4)).length]).toEqual([[], 1]);
    await noteDnsVersion(db, ["ag-1"], 2);
    await noteDnsVersion(db, [], 9);
    expect([await dnsVersionOf(db, "ag-1"), await dnsVersionOf(db, "nobody")]).toEqual([3, 0]);
  });
});
