import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyOps } from "../documents/ops.ts";
import { problemsError } from "../documents/problems.ts";
import { parseYaml } from "../documents/yaml.ts";
import { parseManifest } from "./deployment.ts";
import { SHOP } from "./testing/documents.ts";

const shop = () => parseYaml(SHOP, "shop.yml");

/** The shop with one place changed; `undefined` removes it. */
function changed(path: string, value: unknown): unknown {
  const operation = value === undefined ? { type: "remove", path } : { type: "replace", path, value };
  return applyOps(shop(), [operation], "test");
}

function manifestOf(value: unknown) {
  const parsed = parseManifest(value);
  if (!parsed.ok) throw problemsError("manifest", parsed.problems);
  return parsed.manifest;
}

const problemsOf = (value: unknown) => {
  const parsed = parseManifest(value);
  return parsed.ok ? [] : parsed.problems;
};

describe("a manifest", () => {
  it("is read with every default in its place", () => {
    const manifest = manifestOf(shop());
    expect(manifest).toMatchObject({
      name: "shop",
      features: { randomizeAzPlacement: true },
      tags: { team: "sales" },
      stemcells: [{ alias: "default", os: "ubuntu-noble", name: undefined, version: "1.latest" }],
      update: {
        canaries: { count: 1 },
        maxInFlight: { percent: 25 },
        canaryWatchMs: [1000, 60000],
        updateWatchMs: [60000, 60000],
        serial: true,
        vmStrategy: "delete-create",
        initialDeployAzStrategy: "serial",
      },
    });
    const [web, db] = manifest.groups;
    expect(web).toMatchObject({ vmType: "small", persistentDisk: undefined, lifecycle: "service", env: {} });
    expect(web?.networks).toEqual([
      { name: "private", staticIps: [], default: [] },
      { name: "outside", staticIps: [], default: ["dns", "gateway"] },
    ]);
    expect(web?.update).toEqual(manifest.update);
    expect(db).toMatchObject({
      vmType: undefined,
      vmResources: { cpu: 2, ram: 4096, ephemeral_disk_size: 10240 },
      persistentDisk: { type: "d10" },
      migratedFrom: [{ name: "postgres", az: "z1" }],
      update: { canaries: { count: 1 }, maxInFlight: { count: 1 }, serial: false },
      env: { bosh: { swap_size: 0 }, persistent_disk_fs: "xfs" },
      tags: { tier: "data" },
    });
    expect(db?.networks).toEqual([
      { name: "private", staticIps: ["10.4.0.200", "10.4.0.201"], default: ["dns", "gateway"] },
    ]);
  });

  it("may have jobs, single release, numbers for strings and no disk", () => {
    const value = changed("/instance_groups/name=web/jobs/-", {
      name: "web",
      release: "demo",
      properties: {},
    });
    const manifest = manifestOf(
      applyOps(
        value,
        [
          {
            type: "replace",
            path: "/releases/-",
            value: { name: "demo", version: 1.1, url: "https://x", sha1: "y" },
          },
          { type: "replace", path: "/stemcells/0/version", value: 12 },
          { type: "replace", path: "/instance_groups/name=web/persistent_disk?", value: 0 },
          { type: "replace", path: "/instance_groups/name=web/nonsense?", value: null },
        ],
        "test",
      ),
    );
    expect(manifest.releases).toEqual([{ name: "demo", version: "1.1" }]);
    expect(manifest.stemcells[0]?.version).toBe("12");
    expect(manifest.groups[0]?.jobs).toMatchObject([{ name: "web", release: "demo" }]);
    expect(manifest.groups[0]?.persistentDisk).toBeUndefined();
  });

  it("takes the Director's strategy where it names none", () => {
    const parsed = parseManifest(shop(), { vmStrategy: "create-swap-delete" });
    expect(parsed.ok && parsed.manifest.groups[1]?.update.vmStrategy).toBe("create-swap-delete");
  });
});

const WEB = "/instance_groups/name=web";
const DB = "/instance_groups/name=db";
const DATA = { name: "data", type: "d" };
const web = (rest: string) => `instance_groups[web].${rest}`;

describe("a mistake is reported at its place, with upstream's number", () => {
  it.each<[string, unknown, string, number]>([
    ["/name", undefined, "name", 40001],
    ["/name", null, "name", 40000],
    ["/name", "", "name", 40000],
    ["/name", true, "name", 40000],
    ["/name", "a b", "name", 40005],
    ["/name", ".a", "name", 40005],
    ["/name", `a${"b".repeat(255)}`, "name", 40005],
    ["/name", "7up", "name", 420001],
    ["/releases", undefined, "releases", 40001],
    [
      "/releases",
      [
        { name: "a", version: 1 },
        { name: "a", version: 2 },
      ],
      "releases[a]",
      190002,
    ],
    ["/releases", [{ name: "a" }], "releases[a].version", 40001],
    ["/releases", [7], "releases[0]", 40000],
    ["/release?", { name: "a", version: 1 }, "release", 190001],
    ["/stemcells", undefined, "stemcells", 40001],
    ["/stemcells", [], "stemcells", 40001],
    ["/stemcells/0/alias", undefined, "stemcells[0].alias", 40001],
    ["/stemcells/0/os", undefined, "stemcells[default].os", 40001],
    ["/stemcells/0/name?", "x", "stemcells[default].name", 50006],
    ["/stemcells/-", { alias: "default", os: "x", version: "1" }, "stemcells[default]", 50005],
    [`${WEB}/name`, "../db", "instance_groups[../db].name", 40005],
    [`${WEB}/name`, "d b", "instance_groups[d b].name", 40005],
    [`${WEB}/name`, "a/b", "instance_groups[a/b].name", 40005],
    [`${WEB}/name`, "a\nb", "instance_groups[a?b].name", 40005],
    [`${WEB}/jobs`, [{ name: "../x", release: "a" }], web("jobs[../x].name"), 40005],
    ["/update", undefined, "update", 40001],
    ["/update", null, "update", 40000],
    ["/update/canaries", undefined, "update.canaries", 40001],
    ["/update/canaries", "many", "update.canaries", 40000],
    ["/update/max_in_flight", -1, "update.max_in_flight", 40000],
    ["/update/canary_watch_time", "9-1", "update.canary_watch_time", 180001],
    ["/update/update_watch_time", "soon", "update.update_watch_time", 180001],
    ["/update/serial?", "yes", "update.serial", 40000],
    ["/update/vm_strategy?", "swap", "update.vm_strategy", 40005],
    ["/features/randomize_az_placement", "on", "features.randomize_az_placement", 560001],
    ["/tags", null, "tags", 40000],
    ["/properties?", null, "properties", 40000],
    ["/azs?", [], "azs", 190014],
    ["/compilation?", {}, "compilation", 190014],
    ["/resource_pools?", [], "resource_pools", 140028],
    ["/networks?", [], "networks", 140026],
    ["/jobs?", [], "jobs", 140023],
    ["/addons?", [{ jobs: [] }], "addons[0].name", 40001],
    ["/addons?", [{ name: "x", include: { deployments: ["a"] } }], "addons[x].include.deployments", 530006],
    ["/addons?", [{ name: "x", jobs: [{ name: "j", release: "r" }] }], "addons[x].jobs[j].release", 530002],
    ["/instance_groups", { web: {} }, "instance_groups", 40000],
    [`${WEB}/name`, undefined, "instance_groups[0].name", 40001],
    ["/instance_groups/name=db/name", "WEB", "instance_groups[WEB].name", 190006],
    [`${WEB}/instances`, undefined, web("instances"), 40001],
    [`${WEB}/instances`, "3", web("instances"), 40000],
    [`${WEB}/instances`, -1, web("instances"), 40002],
    [`${WEB}/instances`, 1e9, web("instances"), 40003],
    [`${WEB}/azs`, [], web("azs"), 140017],
    [`${WEB}/azs`, ["z1", "z1"], web("azs"), 140016],
    [`${WEB}/azs`, [["z1"]], web("azs[0]"), 40000],
    [`${WEB}/jobs`, undefined, web("jobs"), 40001],
    [`${WEB}/jobs`, [{ name: "a", release: "gone" }], web("jobs[a].release"), 140002],
    [`${WEB}/vm_type`, undefined, web("vm_type"), 140022],
    [`${WEB}/vm_resources?`, { cpu: 1, ram: 1, ephemeral_disk_size: 1 }, web("vm_type"), 140022],
    ["/instance_groups/name=db/vm_resources/cpu", "2", "instance_groups[db].vm_resources.cpu", 40000],
    [`${WEB}/stemcell`, undefined, web("stemcell"), 40001],
    [`${WEB}/persistent_disk?`, -1, web("persistent_disk"), 140013],
    [`${WEB}/persistent_disk?`, "10G", web("persistent_disk"), 40000],
    ["/instance_groups/name=db/persistent_disk?", 1, "instance_groups[db].persistent_disk", 140013],
    [`${DB}/persistent_disks?`, [], "instance_groups[db].persistent_disk_type", 140013],
    [`${WEB}/persistent_disks?`, "data", web("persistent_disks"), 40000],
    [`${WEB}/persistent_disks?`, [{ type: "d" }], web("persistent_disks[0].name"), 40001],
    [`${WEB}/persistent_disks?`, [{ name: "data" }], web("persistent_disks[0].type"), 40001],
    [`${WEB}/persistent_disks?`, [{ name: "../x", type: "d" }], web("persistent_disks[0].name"), 140013],
    [`${WEB}/persistent_disks?`, [DATA, DATA], web("persistent_disks[1]"), 140013],
    [`${WEB}/networks`, [], web("networks"), 140009],
    [`${WEB}/networks`, undefined, web("networks"), 140009],
    [`${WEB}/networks/0/name`, undefined, web("networks[0].name"), 40001],
    [`${WEB}/networks/1/name`, "private", web("networks[1].name"), 40005],
    [`${WEB}/networks/1/default`, ["dns"], web("networks"), 150005],
    [`${WEB}/networks/1/default`, ["dns", "gateway", "ntp"], web("networks[1].default"), 150003],
    [`${WEB}/networks/0/default?`, ["dns"], web("networks"), 150004],
    [`${WEB}/networks/0/static_ips?`, ["10.4.0.300"], web("networks[0].static_ips[0]"), 150009],
    [`${WEB}/networks/0/static_ips?`, ["fd00::x"], web("networks[0].static_ips[0]"), 150009],
    [`${WEB}/networks/0/static_ips?`, ["0.0.0.0/0"], web("networks[0].static_ips[0]"), 150009],
    [`${WEB}/networks/0/static_ips?`, ["10.4.0.1", "10.4.0.0/30"], web("networks[0].static_ips[1]"), 150009],
    [`${WEB}/networks/0/nic_group?`, [1], web("networks[0].nic_group"), 40000],
    [
      `${WEB}/jobs`,
      [{ name: "j", release: "r", custom_provider_definitions: ["side"] }],
      web("jobs[j].custom_provider_definitions[0]"),
      40000,
    ],
    [`${WEB}/update?`, { canaries: "x" }, web("update.canaries"), 40000],
    [`${WEB}/lifecycle?`, "daemon", web("lifecycle"), 140011],
    [`${WEB}/env?`, null, web("env"), 40000],
    [`${WEB}/migrated_from?`, [{ az: "z1" }], web("migrated_from[0].name"), 40001],
    [`${WEB}/templates?`, [], web("templates"), 140024],
    [`${WEB}/resource_pool?`, "x", web("resource_pool"), 140025],
  ])("%s: %j", (path, value, where, code) => {
    const problems = problemsOf(changed(path, value));
    expect(problems).toContainEqual(expect.objectContaining({ where, code }));
    for (const { problem, fix } of problems) {
      expect(problem).not.toBe("");
      expect(fix).toMatch(/\.$/);
    }
  });

  it.each([null, undefined, [], "shop", 3])("%j is no manifest", (value) =>
    expect(problemsOf(value)).toMatchObject([{ code: 440001, where: "" }]),
  );

  it("reports several problems in one error under the first number", () => {
    const problems = problemsOf({ name: "shop", instance_groups: [{}] });
    expect(problems.map((p) => p.where)).toEqual(
      expect.arrayContaining(["releases", "stemcells", "update", "instance_groups[0].name"]),
    );
    const error = problemsError("manifest of shop", problems);
    expect(error.number).toBe(40001);
    expect(error.message).toContain(`manifest of shop: ${problems.length} problems\n- releases: `);
  });

  it("limits the number of problems it reports", () => {
    const problems = problemsOf({ name: "x", instance_groups: Array(50_000).fill(null) });
    expect(problems.length).toBeLessThanOrEqual(200);
    expect(problemsError("m", problems).message.split("\n").length).toBeLessThan(25);
  });
});

describe("whatever comes in", () => {
  const keys = fc.constantFrom(
    ...[
      "name",
      "releases",
      "stemcells",
      "update",
      "instance_groups",
      "features",
      "tags",
      "addons",
      "variables",
    ],
    ...[
      "alias",
      "os",
      "version",
      "canaries",
      "instances",
      "azs",
      "jobs",
      "networks",
      "static_ips",
      "default",
    ],
    ...["env", "migrated_from", "vm_type", "vm_resources", "persistent_disk", "constructor", "toString"],
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      fc.anything(),
      fc.string(),
      fc.integer(),
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.dictionary(keys, tie("tree"), { maxKeys: 8 }),
    ),
  }));

  it("is a manifest or a list of problems, each with place, words and fix", () => {
    fc.assert(
      fc.property(tree, (value) => {
        for (const problem of problemsOf(value)) {
          expect(problem).toEqual({
            code: expect.any(Number),
            where: expect.any(String),
            problem: expect.stringMatching(/./),
            fix: expect.stringMatching(/./),
          });
        }
      }),
      { numRuns: tries(1000) },
    );
  });

  it("one wrong value anywhere in a good manifest gives problems or a manifest", () => {
    const paths = [
      "/name",
      "/update",
      "/stemcells/0",
      "/instance_groups",
      WEB,
      `${WEB}/networks`,
      `${WEB}/networks/0`,
      `${WEB}/azs`,
      `${WEB}/jobs`,
      "/tags",
    ];
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.anything(), (path, value) => {
        expect(parseManifest(changed(path, value ?? null))).toHaveProperty("ok");
      }),
      { numRuns: tries(500) },
    );
  });
});
