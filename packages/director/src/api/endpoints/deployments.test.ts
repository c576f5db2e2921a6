import { X509Certificate } from "node:crypto";
import { TEST_CERT } from "@slipway/testkit/tls-fixture";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureDeployment, saveSuccess } from "../../store/deployments.ts";
import { saveRelease } from "../../store/save-release.ts";
import { ensureVariableSet, pinVariable, useVariableSet } from "../../store/variable-sets.ts";
import { saveVariable } from "../../store/variables.ts";
import { type Harness, startHarness } from "../testing/harness.ts";
import { seedShop, WEB_0, WEB_1 } from "../testing/seed.ts";

let api: Harness;
beforeAll(async () => {
  api = await startHarness();
  await seedShop(api.db);
});
afterAll(() => api.close());
beforeEach(() => void api.queued.splice(0));

const yaml = (method: string, path: string, body = "") => api.ask(method, path, { type: "text/yaml", body });
const OPTIONS = {
  recreate: false,
  recreate_persistent_disks: false,
  fix: false,
  skip_drain: [],
  dry_run: false,
  force_latest_variables: false,
};
const cloudConfig = async (content: string) => {
  await yaml("POST", "/cloud_configs?name=", content);
  const [config] = (await api.get("/configs?latest=true&type=cloud&name=default")).json as { id: string }[];
  return Number(config?.id);
};

describe("deploy", () => {
  it("makes the deployment visible at once and hands the task what was posted", async () => {
    const id = await cloudConfig("azs: [{name: z1}]\n");
    const manifest = "# kept\nname: fresh\n";
    expect((await yaml("POST", "/deployments?", manifest)).status).toBe(302);
    expect(api.queued).toEqual([
      {
        type: "update_deployment",
        description: "create deployment",
        user: "admin",
        deployment: "fresh",
        contextId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        params: { manifest, cloud_config_ids: [id], runtime_config_ids: [], options: OPTIONS },
      },
    ]);
    expect((await api.get("/deployments")).json).toContainEqual({
      name: "fresh",
      cloud_config: "none",
      releases: [],
      stemcells: [],
      teams: [],
      locked: false,
    });
    expect((await api.get("/deployments/fresh")).json).toEqual({ manifest: null });
  });

  it("takes every switch of the CLI", async () => {
    const query = [
      "recreate_vms_created_before=2026-01-31T12:00:00%2B01:00",
      "recreate_persistent_disks=true",
      "fix=true",
      "skip_drain=web,db/0",
      "canaries=1",
      "max_in_flight=50%25",
      "dry_run=true",
      "force_latest_variables=true",
      `context=${encodeURIComponent('{"cloud_config_ids":[1],"runtime_config_ids":[]}')}`,
    ].join("&");
    expect((await yaml("POST", `/deployments?${query}`, "name: shop")).status).toBe(302);
    expect(api.queued[0]).toMatchObject({
      description: "create deployment (dry run)",
      params: {
        cloud_config_ids: [1],
        options: {
          recreate: true,
          recreate_persistent_disks: true,
          recreate_vms_created_before: "2026-01-31T11:00:00.000Z",
          fix: true,
          skip_drain: ["web", "db/0"],
          canaries: "1",
          max_in_flight: "50%",
          dry_run: true,
          force_latest_variables: true,
        },
      },
    });
  });

  it.each([
    ["", "", 440001],
    ["", "- a", 440001],
    ["", "a: [", 440001],
    ["", "a: 1", 40001],
    ["", "name: ''", 40001],
    ["", "name: {a: 1}", 40001],
    ["", "name: 'a b'", 40005],
    ["", "name: ../x", 40005],
    ["", "name: SHOP", 190009],
    ["canaries=x", "name: shop", 40005],
    ["max_in_flight=-1", "name: shop", 40005],
    ["recreate_vms_created_before=soon", "name: shop", 40005],
    ["context=x", "name: shop", 190025],
    ["context=%7B%22cloud_config_ids%22%3A%5B999%5D%7D", "name: shop", 190025],
    ["context=%7B%22cloud_config_ids%22%3A%5B%221%22%5D%7D", "name: shop", 190025],
    ["context=%7B%22runtime_config_ids%22%3A%5B1%5D%7D", "name: shop", 190025],
  ])("refuses the query %j and the manifest %j with code %i", async (query, manifest, code) => {
    const answer = await yaml("POST", `/deployments?${query}`, manifest);
    expect(answer).toMatchObject({ status: 400, json: { code } });
    expect(api.queued).toEqual([]);
  });

  it("leaves no deployment behind if the manifest is refused", async () => {
    await yaml("POST", "/deployments?canaries=x", "name: ghost");
    expect((await api.get("/deployments/ghost")).json).toMatchObject({ code: 70000 });
  });

  it("takes a manifest of 10 MB", async () => {
    const manifest = `name: shop\nnote: ${"x".repeat(10 << 20)}\n`;
    expect((await yaml("POST", "/deployments", manifest)).status).toBe(302);
    expect(String(api.queued[0]?.params.manifest)).toHaveLength(manifest.length);
  });
});

describe("the diff of a deploy", () => {
  it("shows everything of an unknown deployment, with the configs it is made with", async () => {
    const id = await cloudConfig("azs: [{name: z1}]\n");
    expect((await yaml("POST", "/deployments/unknown/diff?redact=true", "name: unknown\n")).json).toEqual({
      problems: expect.any(Array),
      context: { cloud_config_ids: [id], runtime_config_ids: [] },
      diff: [
        ["azs:", "added"],
        ["- name: z1", "added"],
        ["", null],
        ["name: unknown", "added"],
      ],
    });
    expect((await api.get("/deployments/unknown")).status).toBe(404);
  });

  it("compares with the last success, and is empty when nothing changed", async () => {
    const config = await cloudConfig("azs: [{name: z1}]\n");
    const manifest = "name: same\ninstance_groups: [{name: web, instances: 1}]\n";
    const { id } = await ensureDeployment(api.db, "same");
    await saveSuccess(api.db, id, { manifestText: manifest, configs: [config], stemcells: [] });
    expect((await yaml("POST", "/deployments/same/diff", manifest)).json).toMatchObject({ diff: [] });
    const changed = await yaml(
      "POST",
      "/deployments/same/diff",
      manifest.replace("instances: 1", "instances: 2"),
    );
    expect(changed.json).toMatchObject({
      diff: [
        ["instance_groups:", null],
        ["- name: web", null],
        ["  instances: 1", "removed"],
        ["  instances: 2", "added"],
      ],
    });
    expect((await api.get("/deployments")).json).toContainEqual(
      expect.objectContaining({ name: "same", cloud_config: "latest" }),
    );
    await cloudConfig("azs: [{name: z1}, {name: z2}]\n");
    expect((await yaml("POST", "/deployments/same/diff", manifest)).json).toMatchObject({
      diff: [
        ["azs:", null],
        ["- name: z2", "added"],
      ],
    });
    expect((await api.get("/deployments")).json).toContainEqual(
      expect.objectContaining({ name: "same", cloud_config: "outdated" }),
    );
    expect((await api.get("/deployment_configs?deployment[]=same")).json).toEqual([
      { id: 1, deployment: "same", config: { id: config, type: "cloud", name: "default" } },
    ]);
  });

  it("shows the version that latest stands for", async () => {
    await api.db
      .insertInto("stemcells")
      .values({
        name: "tiny",
        version: "1.10",
        operating_system: "tiny-os",
        cid: "sc-1",
        digest: "d",
        cpi: "",
        api_version: 3,
      })
      .execute();
    const manifest = "name: n\nstemcells: [{alias: a, os: tiny-os, version: latest}]\n";
    const answer = await yaml("POST", "/deployments/n/diff", manifest);
    expect(answer.body).toContain("1.10");
  });

  it("shows which version of a release latest stands for, and which one was deployed", async () => {
    const versions: number[] = [];
    for (const version of ["9", "10"])
      versions.push(
        await saveRelease(api.db, {
          ...{ name: "app", version, commitHash: "c", uncommittedChanges: false },
          ...{ jobs: [], packages: [], shared: [] },
        }),
      );
    const manifest =
      "name: renewed\nreleases: [{name: app, version: latest}, {name: none, version: latest}, 3]\n";
    const { id } = await ensureDeployment(api.db, "renewed");
    const releases = versions.slice(0, 1).map((one) => ({ id: one, name: "app", version: "9" }));
    await saveSuccess(api.db, id, { manifestText: manifest, configs: [], stemcells: [], releases });
    const { diff } = (await yaml("POST", "/deployments/renewed/diff", manifest)).json as { diff: unknown[] };
    expect(diff).toContainEqual(["  version: '9'", "removed"]);
    expect(diff).toContainEqual(["  version: '10'", "added"]);
    expect(diff.filter((line) => JSON.stringify(line).includes("none"))).toEqual([]);
  });

  it("hides secrets unless asked", async () => {
    const manifest = "name: n\nproperties: {password: hush-hush}\n";
    const diff = async (query: string) => (await yaml("POST", `/deployments/n/diff${query}`, manifest)).body;
    expect(await diff("?redact=true")).not.toContain("hush-hush");
    expect(await diff("")).not.toContain("hush-hush");
    expect(await diff("?redact=false")).toContain("hush-hush");
  });

  it.each(["", "a: [", "- x"])("is error 440001 for the manifest %j", async (manifest) => {
    const answer = await yaml("POST", "/deployments/n/diff", manifest);
    expect(answer).toMatchObject({ status: 400, json: { code: 440001 } });
  });
});

describe("a deployment", () => {
  it("is listed by name, with fewer fields on request", async () => {
    const names = ((await api.get("/deployments")).json as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual([...names].sort());
    const query = "exclude_configs=true&exclude_releases=true&exclude_stemcells=true&exclude_lock=true";
    expect((await api.get(`/deployments?${query}`)).json).toContainEqual({ name: "shop", teams: [] });
  });

  it("is deleted by a task; one that does not exist is error 70000", async () => {
    expect((await api.ask("DELETE", "/deployments/shop?force=true")).status).toBe(302);
    expect((await api.ask("DELETE", "/deployments/shop?")).status).toBe(302);
    expect(api.queued).toMatchObject([
      { type: "delete_deployment", description: "delete deployment shop", params: { force: true } },
      { deployment: "shop", params: { force: false } },
    ]);
    expect(await api.ask("DELETE", "/deployments/none")).toMatchObject({
      status: 404,
      json: { code: 70000 },
    });
  });

  it.each([
    ["instances", "instances"],
    ["vms", "vms"],
  ])("%s with format=full starts a task, by GET", async (path, type) => {
    expect((await api.get(`/deployments/shop/${path}?format=full`, "reader")).status).toBe(302);
    expect(api.queued).toMatchObject([
      {
        type,
        description: "retrieve vm-stats",
        user: "reader",
        deployment: "shop",
        params: { deployment: "shop" },
      },
    ]);
  });

  it("shows instances and VMs as recorded, with what was agreed for each VM", async () => {
    const vm = {
      agent_id: "ag-1",
      cid: "vm-1",
      job: "web",
      index: 0,
      id: WEB_0,
      az: "z1",
      ips: ["10.0.0.2"],
      vm_created_at: "2025-11-15T19:00:00Z",
    };
    const hint = {
      path: "/dev/sdc",
      iscsi_settings: { initiator_name: "i", username: "u", target: "t", password: "<redacted>" },
    };
    const slipway = {
      cpi: "",
      cpi_api_version: 2,
      stemcell_api_version: 3,
      channel: "user-data",
      disks: { system: "/dev/sda", persistent: { "disk-1": hint } },
      agent_url: "https://10.0.0.2:6868",
    };
    expect((await api.get("/deployments/shop/instances")).json).toEqual([
      { ...vm, expects_vm: true, slipway },
      {
        ...{ agent_id: null, cid: null, job: "web", index: 1, id: WEB_1, az: "z1", ips: [] },
        vm_created_at: null,
        expects_vm: false,
      },
    ]);
    expect((await api.get("/deployments/shop/vms")).json).toEqual([
      {
        ...vm,
        active: true,
        permanent_nats_credentials: false,
        stemcell: { name: "tiny", version: "1.10", api_version: 3 },
        slipway,
      },
    ]);
    expect((await api.get("/deployments/shop/disks")).json).toMatchObject([
      { disk_cid: "disk-1", size: 1024, instance_name: `web/${WEB_0}`, vm_cid: "vm-1", mounted: true, hint },
    ]);
  });

  it.each(["errands", "variables", "snapshots"])("has no %s at first", async (what) => {
    expect(await api.get(`/deployments/shop/${what}`)).toMatchObject({ status: 200, json: [] });
    expect(await api.get(`/deployments/none/${what}`)).toMatchObject({ status: 404, json: { code: 70000 } });
  });
});

it("variables are listed by name and id, of a type if requested, and never with a value", async () => {
  const { id } = await api.db
    .selectFrom("deployments")
    .select("id")
    .where("name", "=", "shop")
    .executeTakeFirstOrThrow();
  const set = await ensureVariableSet(api.db, "shop", 7);
  for (const [name, type] of [
    ["pw", "password"],
    ["ca", "certificate"],
    ["given", undefined],
  ] as const)
    await pinVariable(api.db, set.id, { name: `/lab/shop/${name}`, id: `id-${name}`, type });
  const told = (names: readonly string[]) =>
    names.map((name) => ({ id: `id-${name}`, name: `/lab/shop/${name}` }));
  expect((await api.get("/deployments/shop/variables")).json).toEqual(told(["ca", "given", "pw"]));
  expect((await api.get("/deployments/shop/variables?type=certificate")).json).toEqual(told(["ca"]));
  expect((await api.get("/deployments/shop/variables?type=x")).json).toEqual([]);
  expect((await api.get("/deployments/shop/variables", "reader")).status).toBe(401);
  await api.db.deleteFrom("variable_sets").where("deployment_id", "=", id).execute();
});

it("certificates among the variables of the last successful deploy are listed with their expiry, without values", async () => {
  const { id } = await ensureDeployment(api.db, "shop");
  const pin = async (task: number, ids: readonly string[]) => {
    const set = await ensureVariableSet(api.db, "shop", task);
    for (const one of ids) await pinVariable(api.db, set.id, { name: `/lab/shop/${one}`, id: `v-${one}` });
    return set.id;
  };
  const values = {
    ca: { certificate: TEST_CERT, private_key: "canary" },
    pw: "canary",
    odd: { certificate: "?" },
  };
  for (const [name, value] of Object.entries(values))
    await saveVariable(
      api.db,
      { id: `v-${name}`, name: `/lab/shop/${name}`, type: "x", value, options: {}, requestId: "1" },
      () => false,
    );
  await useVariableSet(api.db, await pin(8, Object.keys(values)));
  // A deploy that has not succeeded yet.
  await pin(9, ["gone"]);
  const { status, json, body } = await api.get("/deployments/shop/certificate_expiry", "reader");
  expect(status).toBe(200);
  const until = Date.parse(new X509Certificate(TEST_CERT).validTo);
  expect(json).toEqual([
    {
      ...{ name: "/lab/shop/ca", id: "v-ca", days_left: expect.any(Number) },
      expiry_date: new Date(until).toISOString().replace(".000Z", "Z"),
    },
  ]);
  expect(body).not.toContain("canary");

  const used = { deployments: [{ name: "shop", version: "v-pw" }] };
  expect((await api.get(`/deployed_variables/${encodeURIComponent("/lab/shop/pw")}`, "reader")).json).toEqual(
    used,
  );
  expect((await api.get(`/deployed_variables/${encodeURIComponent("/lab/shop/gone")}`)).json).toEqual({
    deployments: [],
  });
  await api.db.deleteFrom("variable_sets").where("deployment_id", "=", id).execute();
});

it("a comparison of a manifest with variables says nothing of what only their values tell", async () => {
  const manifest = "name: shop\ninstance_groups: [{name: web, instances: ((many))}]\n";
  const answer = await api.ask("POST", "/deployments/shop/diff", { type: "text/yaml", body: manifest });
  expect(answer.json).toMatchObject({ problems: [] });
  expect(answer.body).toContain("((many))");
});

it("the comparison names every mistake of the manifest, with upstream's numbers", async () => {
  const manifest = "name: many\nreleases: 1\nupdate: {}\ninstance_groups: [{name: ../db}]\nvm_types: []\n";
  const answer = await api.ask("POST", "/deployments/many/diff", { type: "text/yaml", body: manifest });
  const { problems } = answer.json as { problems: readonly { code: number; where: string }[] };
  expect(problems).toContainEqual(expect.objectContaining({ where: "releases", code: 40000 }));
  expect(problems).toContainEqual(expect.objectContaining({ where: "vm_types", code: 190014 }));
  expect(problems).toContainEqual(expect.objectContaining({ where: "stemcells", code: 40001 }));
  expect(problems).toContainEqual(
    expect.objectContaining({ where: "instance_groups[../db].name", code: 40005 }),
  );
  expect(new Set(problems.map(({ where }) => where)).size).toBe(problems.length);
});
