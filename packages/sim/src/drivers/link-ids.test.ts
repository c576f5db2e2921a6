import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type MadeRelease, releaseTarball } from "@slipway/testkit/release-tarball";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { dbWith, deployTask, taskOf } from "../crash/scenarios/tasks.ts";
import type { ManifestSketch } from "../director/manifests.ts";
import { Bench } from "./testing/bench.ts";
import type { Interference } from "./watch-clients.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open({ dns: true });
});
afterAll(() => bench.close());

const job = (spec: object) => ({ spec: { templates: {}, ...spec }, monit: "", templates: {} });
const release = (version: string, type: string): MadeRelease => ({
  name: "shop",
  version,
  jobs: {
    db: job({
      properties: { port: { default: 5432 } },
      provides: [{ name: "db", type, properties: ["port"] }],
    }),
    web: job({ consumes: [{ name: "db", type }] }),
  },
  packages: {},
});

interface Sketch {
  readonly alias?: string;
  readonly version?: string;
  readonly group?: string;
  readonly migratedFrom?: string;
}
/** A group that offers `db` under an alias, and one that consumes it. */
const shop = ({ alias = "one", version = "1", group = "db", ...more }: Sketch = {}): ManifestSketch => ({
  name: "shop",
  releases: [{ name: "shop", version }],
  groups: [
    {
      name: group,
      instances: 2,
      jobs: [{ name: "db", release: "shop", provides: { db: { as: alias, shared: true } } }],
      ...more,
    },
    {
      name: "web",
      instances: 1,
      jobs: [{ name: "web", release: "shop", consumes: { db: { from: alias } } }],
    },
  ],
});

async function run(task: Parameters<Bench["run"]>[0], seed: string, interference: Interference = {}) {
  const ended = await bench.run(task, { seed, interference });
  expect(`${ended.state} ${ended.message}`).toBe("done ");
  return ended;
}
const providers = () =>
  bench.db
    .selectFrom("link_providers")
    .select(["id", "group_name", "name", "type", "kind"])
    .orderBy("id")
    .execute();
const consumers = () => bench.db.selectFrom("link_consumers").select(["id", "type"]).orderBy("id").execute();
const links = () => bench.db.selectFrom("links").select(["id", "provider_id"]).orderBy("id").execute();

describe("ids of links", () => {
  beforeAll(async () => {
    const uploads = [];
    for (const [version, type] of [
      ["1", "sql"],
      ["2", "postgres"],
    ] as const) {
      const path = join(bench.uploadsDir, `release-${version}.tgz`);
      await writeFile(path, await releaseTarball(release(version, type)));
      uploads.push(taskOf("update_release", { path, fix: false, rebase: false }));
    }
    await bench.prepare({ cpi: { remembers: true }, before: [...uploads, deployTask(shop())] });
  });
  beforeEach(() => bench.rewind());

  it("stay the same when nothing changes", async () => {
    const before = [await providers(), await consumers(), await links()];
    await run(deployTask(shop()), "same");
    expect([await providers(), await consumers(), await links()]).toEqual(before);
  });

  it("stay the same when the alias of the provider changes", async () => {
    const [before, linked] = [await providers(), await links()];
    await run(deployTask(shop({ alias: "two" })), "alias");
    expect(await providers()).toEqual(before.map((one) => ({ ...one, name: "two" })));
    expect(await links()).toEqual(linked);
  });

  it("stay the same for providers and consumers when the release changes the type", async () => {
    const [before, consuming] = [await providers(), await consumers()];
    await run(deployTask(shop({ version: "2" })), "type");
    expect(await providers()).toEqual(before.map((one) => ({ ...one, type: "postgres" })));
    expect(await consumers()).toEqual(consuming.map((one) => ({ ...one, type: "postgres" })));
  });

  it("stay the same for providers when their instance group is renamed", async () => {
    const before = await providers();
    await run(deployTask(shop({ group: "data", migratedFrom: "db" })), "renamed");
    expect(await providers()).toEqual(before.map((one) => ({ ...one, group_name: "data" })));
    expect((await links()).map(({ provider_id: id }) => id)).toEqual(before.map(({ id }) => id));
  });

  it("are followed by the name in DNS: the old one and the new one while a deploy changes the alias", async () => {
    const groups = () =>
      [...bench.world.vms.values()].map(({ agent }) => {
        const { record_infos: infos } = JSON.parse(agent.dns?.text ?? "{}") as {
          record_infos: readonly (readonly unknown[])[];
        };
        return infos.map((info) => (info[3] as readonly string[]).length).sort();
      });
    const during: number[][] = [];
    await run(deployTask(shop({ alias: "two" }), { recreate: true }), "names", {
      ask: (call, carryOut) => {
        if (call.peer === "agent" && call.method === "start") during.push(...groups().slice(0, 1));
        return carryOut();
      },
    });
    expect(during.at(-1)).toEqual([1, 3, 3]);
    expect(groups()[0]).toEqual([1, 2, 2]);
  });
});

describe("named disks", () => {
  it("are listed as links of a deployment without jobs", async () => {
    await bench.prepare({ cpi: { remembers: true }, before: [] });
    await run(deployTask({ name: "shop", groups: [dbWith({ data: "d1" })] }), "disks");
    expect(await providers()).toMatchObject([{ group_name: "db", name: "data", type: "disk", kind: "disk" }]);
  });
});
