import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { activeVm, type InstanceRecord } from "@slipway/engine/model/records";
import { type MadeRelease, releaseTarball } from "@slipway/testkit/release-tarball";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deleteTask, deployTask, shop, taskOf, web } from "../crash/scenarios/tasks.ts";
import type { ManifestSketch } from "../director/manifests.ts";
import { Bench } from "./testing/bench.ts";
import type { Interference, OutsideCall } from "./watch-clients.ts";

sampleTests(1 / 4);

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open({ dns: true });
});
afterAll(() => bench.close());

interface Records {
  readonly version: number;
  readonly records: readonly (readonly [ip: string, name: string])[];
  readonly record_infos: readonly (readonly unknown[])[];
  readonly aliases: object;
}

const agents = () => [...bench.world.vms.values()].map(({ agent, agentId }) => ({ ...agent, agentId }));
const versions = () => agents().map(({ dns }) => dns?.version ?? 0);
/** Returns the records of all agents, which must be the same. */
function known(): Records {
  const texts = new Set(agents().map(({ dns }) => dns?.text ?? ""));
  expect(texts.size).toBe(1);
  return JSON.parse([...texts].join("")) as Records;
}
const namesOf = (instances: readonly InstanceRecord[]) =>
  instances.map((one) => [activeVm(one)?.networks.private?.ip, `${one.uuid}.${one.group}.private.shop.bosh`]);
const instances = async () => (await bench.remembered()).instances;

async function run(task: Parameters<Bench["run"]>[0], seed: string, interference: Interference = {}) {
  const ended = await bench.run(task, { seed, interference });
  expect(`${ended.state} ${ended.message}`).toBe("done ");
  return ended;
}
const ofAgent = (calls: readonly OutsideCall[], agentId: string) =>
  calls.flatMap((call) => (call.peer === "agent" && call.agentId === agentId ? [call.method] : []));
const told = (calls: readonly OutsideCall[]) => calls.filter(({ method }) => method === "sync_dns");

describe("the names of instances", () => {
  beforeAll(() => bench.prepare({ cpi: { remembers: true }, before: [deployTask(shop(web(2)))] }));
  beforeEach(() => bench.rewind());

  it("are known to every agent after a deploy", async () => {
    expect([...known().records].sort()).toEqual(namesOf(await instances()).sort());
    expect(await bench.broken()).toEqual([]);
  });

  it("are not sent again when nothing changed", async () => {
    const { calls } = await run(deployTask(shop(web(2))), "same");
    expect(told(calls)).toEqual([]);
  });

  it("reach all agents before a job of a new instance is started", async () => {
    const before = new Set(agents().map(({ agentId }) => agentId));
    const { calls } = await run(deployTask(shop(web(4))), "more");
    expect([...known().records].sort()).toEqual(namesOf(await instances()).sort());
    for (const { agentId } of agents().filter((one) => !before.has(one.agentId))) {
      const methods = ofAgent(calls, agentId);
      expect(methods.indexOf("sync_dns")).toBeGreaterThan(-1);
      expect(methods.indexOf("sync_dns")).toBeLessThan(methods.indexOf("start"));
    }
  });

  it("are brought to a recreated VM before its jobs start, and stay the same", async () => {
    const before = known();
    const { calls } = await run(deployTask(shop(web(2)), { recreate: true }), "recreate");
    const after = known();
    expect(after.records).toEqual(before.records);
    expect(after.version).toBeGreaterThan(before.version);
    for (const { agentId } of agents()) {
      const methods = ofAgent(calls, agentId);
      expect(methods.indexOf("sync_dns")).toBeLessThan(methods.indexOf("start"));
    }
  });

  it("are forgotten by all when instances are gone", async () => {
    await run(deployTask(shop(web(1))), "fewer");
    expect(known().records).toEqual(namesOf(await instances()));
  });

  it("are forgotten by other deployments when a deployment is gone", async () => {
    await run(deployTask({ name: "other", groups: [web(1)] }), "other");
    expect(known().records).toHaveLength(3);
    await run(deleteTask(), "delete");
    expect(known().records.map(([, name]) => name.split(".").slice(1).join("."))).toEqual([
      "web.private.other.bosh",
    ]);
  });

  it("keep their numbers, whatever comes and goes", async () => {
    const numbers = () => known().record_infos.map(([uuid, ...rest]) => [uuid, rest.slice(0, 7)]);
    const before = numbers();
    await run(deployTask(shop({ name: "early", instances: 1 }, web(2))), "early");
    expect(numbers()).toEqual(expect.arrayContaining(before));
  });

  it("are sent later to an agent that refuses them: the deploy does not fail", async () => {
    const [deaf] = agents();
    const refuses: Interference = {
      ask: (call, carryOut) =>
        call.peer === "agent" && call.agentId === deaf?.agentId && call.method === "sync_dns"
          ? Promise.resolve({ exception: "no space" })
          : carryOut(),
    };
    const [first = 0] = versions();
    await run(deployTask(shop(web(3))), "refused", refuses);
    expect(versions()[0]).toBe(first);
    expect(new Set(versions().slice(1)).size).toBe(1);
    const { calls } = await run(deployTask(shop(web(3))), "again");
    expect(told(calls)).toHaveLength(1);
    expect(new Set(versions()).size).toBe(1);
  });

  it("are not sent over and over to an agent that does not know the message", async () => {
    const [old] = agents();
    const unaware: Interference = {
      ask: (call, carryOut) =>
        call.peer === "agent" && call.agentId === old?.agentId && call.method === "sync_dns"
          ? Promise.resolve({ exception: "unknown message sync_dns" })
          : carryOut(),
    };
    await run(deployTask(shop(web(3))), "unaware", unaware);
    const { calls } = await run(deployTask(shop(web(3))), "again", unaware);
    expect(told(calls)).toEqual([]);
  });

  it("are sent for instances that a failed deploy has made", async () => {
    const fails: Interference = {
      ask: (call, carryOut) =>
        call.peer === "agent" && call.method === "start"
          ? Promise.resolve({ exception: "it does not start" })
          : carryOut(),
    };
    const { state } = await bench.run(deployTask(shop(web(3))), { seed: "fails", interference: fails });
    expect(state).toBe("error");
    expect([...known().records].sort()).toEqual(namesOf(await instances()).sort());
  });
});

const RELEASE: MadeRelease = {
  name: "shop",
  version: "1",
  jobs: {
    db: {
      spec: {
        templates: {},
        properties: { port: { default: 5432 } },
        provides: [{ name: "db", type: "sql", properties: ["port"] }],
      },
      monit: "",
      templates: {},
    },
    web: {
      spec: { templates: {}, consumes: [{ name: "db", type: "sql" }] },
      monit: "",
      templates: {},
    },
  },
  packages: {},
};

describe("links", () => {
  const releases = [{ name: "shop", version: "1" }];
  const db = (provides: object) => ({
    name: "db",
    instances: 1,
    jobs: [{ name: "db", release: "shop", provides: { db: provides } }],
  });
  const webOf = (consumes: object) => ({
    name: "web",
    instances: 1,
    jobs: [{ name: "web", release: "shop", consumes: { db: consumes } }],
  });
  const data: ManifestSketch = { name: "data", releases, groups: [db({ shared: true })] };
  const front: ManifestSketch = {
    name: "shop",
    releases,
    groups: [webOf({ from: "db", deployment: "data" })],
  };

  beforeEach(async () => {
    await bench.prepare({ cpi: { remembers: true }, before: [] });
    const path = join(bench.uploadsDir, "release.tgz");
    await writeFile(path, await releaseTarball(RELEASE));
    await run(taskOf("update_release", { path, fix: false, rebase: false }), "upload");
  });

  const linksOf = (deployment: string) =>
    bench.db
      .selectFrom("links as l")
      .innerJoin("link_consumers as c", "c.id", "l.consumer_id")
      .innerJoin("deployments as d", "d.id", "c.deployment_id")
      .select(["l.id", "l.provider_id", "l.name", "l.content_sealed"])
      .where("d.name", "=", deployment)
      .execute();

  it("are shared with other deployments once their own is deployed, and stay the same as long as it is", async () => {
    const early = await bench.run(deployTask(front), { seed: "early" });
    expect(early.message).toContain("the deployment does not exist");
    await run(deployTask(data), "data");
    await run(deployTask(front), "front");
    const first = await linksOf("shop");
    expect(first).toMatchObject([
      { name: "db", content_sealed: { deployment_name: "data", properties: { port: 5432 } } },
    ]);
    expect(first[0]?.provider_id).not.toBeNull();
    await run(deployTask(front), "again");
    expect(await linksOf("shop")).toEqual(first);
  });

  it("go with their deployment; consumers keep the content they have", async () => {
    await run(deployTask(data), "data");
    await run(deployTask(front), "front");
    await run({ ...deleteTask(), deployment: "data" }, "delete");
    expect(await linksOf("shop")).toMatchObject([{ name: "db", provider_id: null }]);
    const { message } = await bench.run(deployTask(front), { seed: "again" });
    expect(message).toContain("the deployment does not exist");
  });

  it("have their own groups in DNS, which their instances and aliases name", async () => {
    await run(
      deployTask({ name: "data", releases, groups: [db({ aliases: [{ domain: "db.internal" }] })] }),
      "aliased",
    );
    const [info] = known().record_infos;
    const groups = info?.[3] as readonly string[];
    expect(groups).toHaveLength(2);
    expect(known().aliases).toMatchObject({ "db.internal": [{ root_domain: "bosh", group_id: groups[1] }] });
  });

  it("have no group once no job offers them", async () => {
    await run(deployTask(data), "data");
    expect(known().record_infos[0]?.[3]).toHaveLength(2);
    await run(deployTask({ name: "data", releases, groups: [{ name: "db", instances: 1 }] }), "without");
    expect(known().record_infos[0]?.[3]).toHaveLength(1);
    expect(await bench.db.selectFrom("link_providers").selectAll().execute()).toEqual([]);
  });
});
