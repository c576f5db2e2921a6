import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deploymentsUsing, deploymentVariables } from "@slipway/director/store/variable-sets";
import type { NewTask } from "@slipway/director/tasks/task";
import { type MadeRelease, releaseTarball } from "@slipway/testkit/release-tarball";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deployTask, remembers, stateTask, taskOf } from "../crash/scenarios/tasks.ts";
import type { ManifestSketch } from "../director/manifests.ts";
import { Bench, type EndedTask } from "./testing/bench.ts";
import { type MemoryConfigServer, memoryConfigServer } from "./testing/memory-config-server.ts";

sampleTests(1 / 4);

const RELEASE: MadeRelease = {
  name: "shop",
  version: "1",
  jobs: {
    // It does not read itself what it tells others.
    db: {
      spec: {
        templates: {},
        provides: [{ name: "db", type: "sql", properties: ["pw"] }],
      },
      monit: "",
      templates: {},
    },
    web: {
      spec: { templates: { "w.erb": "config/w" }, consumes: [{ name: "db", type: "sql", optional: true }] },
      monit: "",
      templates: { "w.erb": "" },
    },
  },
  packages: {},
};

let bench: Bench;
let server: MemoryConfigServer;
beforeAll(async () => {
  bench = await Bench.open({ dns: true });
});
afterAll(() => bench.close());
beforeEach(async () => {
  server = memoryConfigServer();
  await bench.prepare({ cpi: remembers, before: [] });
  const path = join(bench.uploadsDir, "release.tgz");
  await writeFile(path, await releaseTarball(RELEASE));
  await done(taskOf("update_release", { path, fix: false, rebase: false }));
});

let runs = 0;
const run = (task: NewTask): Promise<EndedTask> =>
  bench.run(task, { seed: `linked ${runs++}`, configServer: server });
async function done(task: NewTask): Promise<EndedTask> {
  const ended = await run(task);
  expect(`${ended.state} ${ended.message}`).toBe("done ");
  return ended;
}

const releases = [{ name: "shop", version: "1" }];
const SITE = { name: "site", type: "address" };
/** A group `web` that offers its address. */
const offers = (more: object = {}): ManifestSketch => ({
  name: "shop",
  releases,
  groups: [
    {
      name: "web",
      instances: 1,
      jobs: [{ name: "web", release: "shop", custom_provider_definitions: [SITE], ...more }],
    },
  ],
});
function deploy(sketch: ManifestSketch, more: string, options: object = {}, env = "{tls: ((tls))}"): NewTask {
  const base = deployTask(sketch, options);
  const manifest = String(base.params.manifest).replace("azs: [z1]", `azs: [z1]\n  env: ${env}`) + more;
  return { ...base, params: { ...base.params, manifest } };
}
const TLS = (consumes: string, options = "{ca: ca}") =>
  `variables: [{name: tls, type: certificate, options: ${options}, consumes: ${consumes}}, {name: ca, type: certificate}]\n`;
const options = (name: string) => server.asked.find((one) => one.name === `/sim/shop/${name}`)?.options;

describe("a certificate with the name of a link", () => {
  it("is generated with the name under which the link's instances are found", async () => {
    await done(deploy(offers(), TLS("{alternative_name: {from: site}, common_name: {from: site}}")));
    const name = "q-s0.web.private.shop.bosh";
    expect(options("tls")).toEqual({ ca: "/sim/shop/ca", alternative_names: [name], common_name: name });
    const consumers = await bench.db.selectFrom("link_consumers").selectAll().execute();
    expect(consumers.filter((one) => one.group_name === "")).toMatchObject([
      { job: "tls", original_name: "alternative_name", name: "site", type: "address" },
      { job: "tls", original_name: "common_name" },
    ]);
    expect(await bench.broken()).toEqual([]);
  });

  it("keeps what its options say, and may have a wildcard", async () => {
    const given = "{ca: ca, common_name: me, alternative_names: [a.b]}";
    const wild = "{from: site, link_type: address, properties: {wildcard: true}}";
    await done(deploy(offers(), TLS(`{alternative_name: ${wild}, common_name: ${wild}}`, given)));
    expect(options("tls")).toEqual({
      ca: "/sim/shop/ca",
      common_name: "me",
      alternative_names: ["a.b", "*.web.private.shop.bosh"],
    });
  });

  it.each([
    ["short", "{use_short_dns_addresses: true}"],
    ["of the link", "{use_link_dns_names: true}"],
  ])("has a name that is %s, the one that a dry run has shown", async (_, features) => {
    const more = `features: ${features}\n${TLS("{alternative_name: {from: site}}")}`;
    await done(deploy(offers(), more, { dry_run: true }));
    const [dry] = server.asked.filter(({ name }) => name === "/sim/shop/tls");
    await done(deploy(offers(), more));
    expect(server.asked.findLast(({ name }) => name === "/sim/shop/tls")).toEqual(dry);
    expect(JSON.stringify(dry)).toMatch(/"q-n\d+s0\.q-g\d+\.bosh"/);
  });

  it("comes before what it signs, wherever that stands", async () => {
    const chain = `variables: [{name: leaf, type: certificate, options: {ca: tls}}, {name: tls, type: certificate, consumes: {alternative_name: {from: site}}}]\n`;
    await done(deploy(offers(), chain, {}, "{tls: ((leaf))}"));
    expect(server.asked.map(({ name }) => name)).toEqual(["/sim/shop/tls", "/sim/shop/leaf"]);
  });

  it("stays when nothing changed, and when a VM is recreated", async () => {
    const task = () => deploy(offers(), TLS("{alternative_name: {from: site}}"));
    await done(task());
    const versions = server.versions.length;
    expect((await done(task())).changing).toEqual([]);
    await done(stateTask("recreate"));
    expect(server.versions).toHaveLength(versions);
    expect(await bench.db.selectFrom("links").select("name").execute()).toEqual([
      { name: "alternative_name" },
    ]);
  });

  it.each([
    [
      TLS("{alternative_name: {from: nobody}}"),
      "Failed to resolve link 'alternative_name' with alias 'nobody' and type 'address' from variable 'tls'. Details below:",
    ],
    [TLS("{other: {from: site}}"), "Consumer name 'other' is not a valid consumer for variable 'tls'"],
    [TLS("[]"), "Consumes for variable 'tls' must be a Hash or nil"],
    [
      "variables: [{name: tls, type: password, consumes: {common_name: {from: site}}}]\n",
      "Variable 'tls' can not define 'consumes' key for type 'password'",
    ],
    [
      `tags: {t: ((tls))}\n${TLS("{alternative_name: {from: site}}")}`,
      "Failed to fetch variable '/sim/shop/tls' from config server: it waits for the names of links",
    ],
  ])("%s is refused, and nothing is made", async (more, says) => {
    const { state, message, calls } = await run(deploy(offers(), more));
    expect(state).toBe("error");
    expect(message).toContain(says);
    expect(calls.filter(({ method }) => method === "create_vm")).toEqual([]);
  });
});

describe("variables of a link that another deployment shares", () => {
  const data: ManifestSketch = {
    name: "data",
    releases,
    groups: [
      {
        name: "db",
        instances: 1,
        jobs: [
          { name: "db", release: "shop", properties: { pw: "((pw))" }, provides: { db: { shared: true } } },
        ],
      },
    ],
  };
  const front = () =>
    done(
      deployTask({
        ...offers({ consumes: { db: { from: "db", deployment: "data" } } }),
        name: "shop",
      }),
    );

  it("are those of its provider, in the versions that it was deployed with", async () => {
    await server.set("/sim/data/pw", "CANARY-one");
    await done(deployTask(data));
    await front();
    await server.set("/sim/data/pw", "CANARY-two");
    expect((await front()).changing).toEqual([]);
    await done({ ...stateTask("recreate"), deployment: "data" });
    expect((await front()).changing).toEqual([]);
    await done(deployTask(data));
    expect((await front()).changing).not.toEqual([]);
    expect((await bench.rowsAsText()).includes("CANARY-")).toBe(false);
  });

  it("stay when the consumer is recreated after its provider was deployed with newer ones", async () => {
    await server.set("/sim/data/pw", "CANARY-one");
    await done(deployTask(data));
    await front();
    await server.set("/sim/data/pw", "CANARY-two");
    await done(deployTask(data));
    expect(await deploymentVariables(bench.db, "shop", undefined)).toEqual([
      { id: "id-1", name: "/sim/data/pw" },
    ]);
    expect(await deploymentsUsing(bench.db, "/sim/data/pw")).toMatchObject([
      { deployment: "data", id: "id-2" },
      { deployment: "shop", id: "id-1" },
    ]);
    await done(stateTask("recreate"));
    // The recreated instance has the old value: only a deploy brings the new one.
    expect((await front()).changing).not.toEqual([]);
    expect((await front()).changing).toEqual([]);
    await done(stateTask("recreate"));
    expect((await front()).changing).toEqual([]);
  });

  it("are those of the provider's last deploy where the consumer's set has none, as sets of before", async () => {
    await server.set("/sim/data/pw", "CANARY-one");
    await done(deployTask(data));
    await front();
    await bench.db.deleteFrom("variable_set_entries").where("name", "like", "%@%").execute();
    await done(stateTask("recreate"));
    expect((await front()).changing).toEqual([]);
  });
});
