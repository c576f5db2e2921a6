import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readOutput } from "@slipway/director/tasks/output";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { type MadeRelease, releaseTarball } from "@slipway/testkit/release-tarball";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { deployTask, taskOf } from "../crash/scenarios/tasks.ts";
import { Bench } from "./testing/bench.ts";

sampleTests(1 / 4);

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());
beforeEach(() => bench.prepare({ cpi: { remembers: true }, before: [] }));

const RELEASE: MadeRelease = {
  name: "shop",
  version: "1",
  jobs: {
    web: {
      spec: { templates: { "web.yml": "config/web.yml" }, packages: ["server"], properties: { port: {} } },
      monit: "",
      templates: { "web.yml": "a template" },
    },
  },
  packages: {
    lib: { files: { packaging: "# lib" } },
    server: { dependencies: ["lib"], files: { packaging: "# server" } },
  },
};

async function upload(release: MadeRelease): Promise<void> {
  const path = join(bench.uploadsDir, "release.tgz");
  await writeFile(path, await releaseTarball(release));
  const { state, message } = await bench.run(taskOf("update_release", { path, fix: false, rebase: false }), {
    seed: "upload",
  });
  expect(`${state} ${message}`).toBe("done ");
}

const deploy = async (instances: number, properties: JsonObject, options: object = {}) => {
  const jobs = [{ name: "web", release: "shop", properties }];
  const sketch = {
    name: "shop",
    releases: [{ name: "shop", version: "latest" }],
    groups: [{ name: "web", instances, jobs }],
  };
  return await bench.run(deployTask(sketch, options), { seed: "deploy" });
};

const deployed = async (...args: Parameters<typeof deploy>) => {
  const ended = await deploy(...args);
  expect(`${ended.state} ${ended.message}`).toBe("done ");
  return ended;
};
const names = (calls: Awaited<ReturnType<typeof deploy>>["calls"], kind: string) =>
  calls.filter(({ method }) => method === kind);
const specs = () => [...bench.world.vms.values()].map(({ agent }) => agent.spec as JsonObject);

it("packages are compiled once, after what they need, on a VM that is gone afterwards; every instance is told of them", async () => {
  await upload(RELEASE);
  const { calls } = await deployed(2, { port: 80 });
  expect(names(calls, "compile_package")).toHaveLength(2);
  expect(bench.world.vms.size).toBe(2);
  expect(specs()).toMatchObject([
    { packages: { server: { name: "server" } }, job: { templates: [{ name: "web" }] } },
    { packages: { server: { name: "server" } }, job: { templates: [{ name: "web" }] } },
  ]);
  expect(await bench.broken()).toEqual([]);
});

it("nothing is asked of anybody when nothing changed", async () => {
  await upload(RELEASE);
  await deployed(2, { port: 80 });
  const { changing } = await deployed(2, { port: 80 });
  expect(changing).toEqual([]);
});

it("a changed property reaches all instances that have it, in place, and the dry run says so before", async () => {
  await upload(RELEASE);
  await deployed(2, { port: 80 });
  const before = specs().map((spec) => spec?.configuration_hash);
  const { id } = await deployed(2, { port: 81 }, { dry_run: true });
  const events = (await readOutput(bench.db, id, "event")).data.toString();
  expect(events).toContain("template config/web.yml of web changed");
  const { calls } = await deployed(2, { port: 81 });
  expect(names(calls, "create_vm")).toEqual([]);
  expect(names(calls, "compile_package")).toEqual([]);
  expect(names(calls, "apply")).toHaveLength(2);
  for (const [at, hash] of before.entries()) expect(specs()[at]?.configuration_hash).not.toBe(hash);
});
