import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { noteUpload } from "../../store/stemcells.ts";
import { saveVariable } from "../../store/variables.ts";
import { type Harness, startHarness } from "../testing/harness.ts";

let api: Harness;
beforeAll(async () => {
  api = await startHarness();
});
afterAll(() => api.close());

const send = (method: string, path: string, body: object) =>
  api.ask(method, path, { type: "application/json", body: JSON.stringify(body) });
const yaml = (path: string, body: string) => api.ask("POST", path, { type: "text/yaml", body });
interface Config {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly content: string;
  readonly current: boolean;
}

describe("a config", () => {
  it("is saved, compared, changed and deleted as the CLI does it", async () => {
    const about = { type: "thing", name: "a" };
    const first = await send("POST", "/configs/diff", { ...about, content: "x: 1\n" });
    expect(first.json).toEqual({ diff: [["x: 1", "added"]], from: { id: "0" } });

    const saved = await send("POST", "/configs", { ...about, content: "x: 1\n", expected_latest_id: "0" });
    expect(saved.status).toBe(201);
    const config = saved.json as Config;
    expect(config).toMatchObject({ ...about, team: null, content: "x: 1\n", current: true });
    expect(config.id).toMatch(/^\d+$/);
    expect(saved.json).toHaveProperty("created_at", expect.stringMatching(/^\d{4}-\d\d-\d\d [\d:]{8} UTC$/));

    const again = await send("POST", "/configs", {
      ...about,
      content: "x: 1\n",
      expected_latest_id: config.id,
    });
    expect(again).toMatchObject({ status: 201, json: { id: config.id } });

    const late = await send("POST", "/configs", { ...about, content: "x: 2\n", expected_latest_id: "0" });
    expect(late).toMatchObject({
      status: 412,
      json: { latest_id: config.id, expected_latest_id: "0", description: expect.any(String) },
    });

    const next = await send("POST", "/configs", {
      ...about,
      content: "x: 2\n",
      expected_latest_id: Number(config.id),
    });
    const { id } = next.json as Config;
    expect((await api.get(`/configs/${config.id}`)).json).toMatchObject({ current: false });
    expect((await api.get(`/configs/${id}`)).json).toMatchObject({ current: true });
    expect((await api.ask("DELETE", `/configs/${id}`)).status).toBe(204);
    expect(await api.ask("DELETE", `/configs/${id}`)).toMatchObject({ status: 404, json: { code: 440012 } });
    expect((await api.ask("DELETE", "/configs?type=thing&name=a")).status).toBe(204);
    expect((await api.ask("DELETE", "/configs?type=thing&name=a")).status).toBe(404);
    expect((await api.ask("DELETE", "/configs?type=thing")).json).toMatchObject({ code: 440010 });

    const events = (await api.get("/events?object_type=config/thing")).json as { action: string }[];
    expect(events.map(({ action }) => action)).toEqual(["delete", "delete", "create", "create"]);
  });

  it("leaves an event with the reason if it is refused, and events of others have no context", async () => {
    const about = { type: "refused", name: "b" };
    expect((await send("POST", "/configs", { ...about, content: "- 1" })).json).toMatchObject({
      code: 440011,
    });
    expect((await send("POST", "/configs", { ...about, content: "x: 1" })).status).toBe(201);
    const { json } = await api.get("/events?object_type=config/refused");
    const [kept, refused] = json as Record<string, unknown>[];
    expect(kept).toMatchObject({ action: "create", object_name: "b", context: {} });
    expect(kept).not.toHaveProperty("error");
    expect(refused).toMatchObject({
      action: "create",
      object_name: "b",
      error: expect.stringMatching(/map/),
    });
  });

  it("is error 440012 if it does not exist, in compact JSON", async () => {
    for (const id of ["999", "x", "0"]) {
      const answer = await api.get(`/configs/${id}`);
      expect(answer.status).toBe(404);
      expect(answer.body).toContain('"code":440012');
    }
  });

  it.each([
    [{ name: "a", content: "{}" }, 40005],
    [{ type: "t", name: "", content: "{}" }, 40005],
    [{ type: "t", name: "a", content: "" }, 440011],
    [{ type: "t", name: "a", content: "- list" }, 440011],
    [{ type: "t", name: "a", content: "a: [" }, 440011],
    [{ type: "t", name: "a", content: "a: 1", expected_latest_id: "x" }, 440010],
    [{ type: "cpi", name: "default", content: "{}" }, 40001],
  ])("%j is refused with code %i", async (body, code) => {
    expect(await send("POST", "/configs", body)).toMatchObject({ status: 400, json: { code } });
  });

  it("lists by type and name, default first, the newest of each or as many as wanted", async () => {
    const names = ["zeta", "default", "alpha"];
    for (const name of names) {
      for (const content of ["n: 1", "n: 2", "n: 3"])
        await send("POST", "/configs", { type: "listed", name, content });
    }
    const list = async (query: string) =>
      ((await api.get(`/configs?type=listed&${query}`)).json as Config[]).map(
        (c) => `${c.name} ${c.content}`,
      );
    expect(await list("latest=true&limit=1")).toEqual(["default n: 3", "alpha n: 3", "zeta n: 3"]);
    expect(await list("latest=false&limit=2&name=alpha")).toEqual(["alpha n: 3", "alpha n: 2"]);
    expect(await list("latest=false")).toHaveLength(9);
    expect((await api.get("/configs?limit=0")).status).toBe(400);
  });

  it("is compared with another by id or content, redacted", async () => {
    const { id } = (
      await send("POST", "/configs", {
        type: "cmp",
        name: "a",
        content: "properties: {password: old-canary}\n",
      })
    ).json as Config;
    const diff = (from: object, to: object) => send("POST", "/configs/diff", { from, to });
    const answer = await diff(
      { id, content: "" },
      { id: "", content: "properties: {password: new-canary}\n" },
    );
    expect(answer.status).toBe(200);
    expect(answer.body).not.toContain("canary");
    const missing = await diff({ id: "999", content: "" }, { id: "", content: "a: 1" });
    expect(missing.status).toBe(404);
    expect(missing.body).toContain('"code":440012');
    expect((await diff({ id: "", content: "" }, { id, content: "" })).json).toMatchObject({ code: 440010 });
    expect((await diff({ id, content: "a: 1" }, { id, content: "" })).json).toMatchObject({ code: 440010 });
    expect((await send("POST", "/configs/diff", { type: "cmp" })).json).toMatchObject({ code: 440010 });
  });
});

/** Content that a config of each type must have. */
const NEEDED: Readonly<Record<string, string>> = { cpi: "cpis: []\n" };

describe.each(["cloud", "runtime", "cpi"])("the %s config", (type) => {
  const needed = NEEDED[type] ?? "";
  const added =
    needed === ""
      ? []
      : [
          ["", null],
          ["cpis: []", "added"],
        ];
  const path = `/${type}_configs`;

  it("is empty at first, then what was posted, by its name", async () => {
    expect((await api.get(`${path}?limit=1&name=`)).json).toEqual([]);
    const first = await yaml(`${path}/diff?name=`, `a: {x: 1}\n${needed}`);
    expect(first.json).toEqual({
      diff: [["a:", "added"], ["  x: 1", "added"], ...added],
    });
    expect((await yaml(`${path}?name=`, `a: {x: 1}\n${needed}`)).status).toBe(201);
    expect((await yaml(`${path}?name=`, `a: {x: 1}\n${needed}`)).status).toBe(201);
    expect((await yaml(`${path}?name=more`, `b: 1\n${needed}`)).status).toBe(201);
    expect((await api.get(`${path}?limit=1&name=`)).json).toMatchObject([
      { properties: `a: {x: 1}\n${needed}` },
    ]);
    expect((await api.get(`${path}?limit=1&name=more`)).json).toMatchObject([
      { properties: `b: 1\n${needed}` },
    ]);
    expect((await api.get(`/configs?latest=false&type=${type}`)).json).toHaveLength(2);
    expect((await yaml(`${path}/diff?name=`, `a: {x: 2}\n${needed}`)).json).toEqual({
      diff: [
        ["a:", null],
        ["  x: 1", "removed"],
        ["  x: 2", "added"],
      ],
    });
    const events = (await api.get(`/events?object_type=${type}-config`)).json;
    expect(events).toMatchObject([{ action: "update", object_name: "more" }, { object_name: "default" }]);
  });

  it.each(["", "- a", "a: [", "just text"])("%j is error 440001", async (body) => {
    expect(await yaml(path, body)).toMatchObject({ status: 400, json: { code: 440001 } });
    expect(await yaml(`${path}/diff`, body)).toMatchObject({ status: 400, json: { code: 440001 } });
  });
});

describe("a config that no deploy could read", () => {
  it.each([
    ["runtime", "addons: 5"],
    ["runtime", "addons: [5]"],
    ["runtime", "addons: [{name: a, jobs: {}}]"],
    ["runtime", "addons: [{name: a, include: [web]}]"],
    ["runtime", "releases: {name: a}"],
    ["runtime", "releases: [a]"],
    ["runtime", "tags: [a]"],
    ["runtime", "variables: {a: b}"],
    ["cloud", "azs: z1"],
    ["cloud", "azs: [z1]"],
    ["cloud", "vm_types: {}"],
    ["cloud", "vm_extensions: ~"],
    ["cloud", "disk_types: [{name: a, disk_size: {}}]"],
    ["cloud", "networks: private"],
    ["cloud", "networks: [{name: a, type: manual, subnets: 10.0.0.0/8}]"],
    ["cloud", "compilation: [1]"],
    ["cloud", "compilation: {workers: many}"],
    ["resurrection", "rules: 5"],
    ["resurrection", "rules: [{enabled: maybe}]"],
    ["resurrection", "rules: [{enabled: true, include: web}]"],
    ["cpi", "cpis: 5"],
    ["cpi", "cpis: [5]"],
  ])("is refused on upload with type %s: %s", async (type, content) => {
    const name = "shape";
    expect(await send("POST", "/configs", { type, name, content })).toMatchObject({
      status: 400,
      json: { code: 40000 },
    });
    expect((await api.get(`/configs?type=${type}&name=${name}`)).json).toEqual([]);
    if (type !== "resurrection")
      expect((await yaml(`/${type}_configs?name=${name}`, content)).status).toBe(400);
  });

  it.each([
    ["runtime", "addons: ((addons))\nreleases: ((releases))\nx: 5"],
    ["runtime", "addons: [((one)), {name: a, jobs: [{name: ((j)), release: r, properties: ((p))}]}]"],
    ["runtime", "releases: [{name: a, version: latest}]"],
    ["runtime", "addons: []\nunknown: {any: thing}"],
    ["cloud", "azs: [{name: z1, cloud_properties: ((/p))}]"],
    ["cloud", "vm_types: []"],
    ["cloud", "networks: [{name: a, type: manual, subnets: [{range: ((r)), gateway: ((g)), azs: [((z))]}]}]"],
    ["cloud", "compilation: {workers: ((w)), network: nowhere, az: none, vm_type: none}"],
    ["resurrection", "{}"],
    ["resurrection", "rules: [{enabled: false, include: {deployments: [a]}, exclude: {}}]"],
    ["any", "addons: 5"],
  ])(
    "is not one of type %s whose variables or other configs may make it whole: %s",
    async (type, content) => {
      expect(await send("POST", "/configs", { type, name: "fine", content })).toMatchObject({ status: 201 });
      await api.ask("DELETE", `/configs?type=${type}&name=fine`);
    },
  );
});

describe("secrets in diffs", () => {
  it("are shown by the cloud config always, by others on request", async () => {
    const diff = async (path: string) => (await yaml(path, "properties: {a: canary}\n")).body;
    expect(await diff("/cloud_configs/diff")).toContain("canary");
    expect(await diff("/runtime_configs/diff")).not.toContain("canary");
    expect(await diff("/runtime_configs/diff?redact=false")).toContain("canary");
  });
});

describe("a CPI config", () => {
  const config = (name: string, more = "") => `cpis: [{name: ${name}, type: aws${more}}]\n`;

  it("may name what is installed, and nothing else", async () => {
    expect((await yaml("/cpi_configs", config("a", ", properties: {key: canary}"))).status).toBe(201);
    const path = config("a", ", exec_path: /bin/sh");
    expect(await yaml("/cpi_configs", path)).toMatchObject({ status: 400, json: { code: 40000 } });
    expect((await yaml("/cpi_configs", path)).body).toContain("may not run /bin/sh");
    expect((await api.get("/cpi_configs?limit=1")).body).toContain("canary");
  });

  it("names each CPI once, together with all others", async () => {
    const more = { type: "cpi", name: "more", content: config("a") };
    expect(await send("POST", "/configs", more)).toMatchObject({ status: 400, json: { code: 550000 } });
    expect((await send("POST", "/configs", more)).body).toContain("Duplicate cpi name 'a'");
    expect((await send("POST", "/configs", { ...more, content: config("b") })).status).toBe(201);
    // Put in the place of one that has the name.
    expect((await send("POST", "/configs", { ...more, name: "default" })).status).toBe(201);
    expect((await yaml("/cpi_configs", config("a", ", migrated_from: [{name: b}]"))).body).toContain(
      "Duplicate cpi name 'b'",
    );
  });

  it("is refused by update-cpi-config with relative or missing variables, with upstream's numbers", async () => {
    const relative = config("a", ", properties: {key: ((secret)), x: [((deep.er))]}");
    const refused = await yaml("/cpi_configs", relative);
    expect(refused).toMatchObject({ status: 400, json: { code: 540004 } });
    expect(refused.body).toContain("must be be switched to use absolute paths: 'secret', 'deep.er'");
    expect(await send("POST", "/configs", { type: "cpi", name: "default", content: relative })).toMatchObject(
      { status: 400, json: { code: 540004 } },
    );

    const absolute = config("a", ", properties: {key: ((/cpi/key))}");
    expect(await yaml("/cpi_configs", absolute)).toMatchObject({
      status: 400,
      json: { code: 540001, description: expect.stringContaining("Failed to find variable '/cpi/key'") },
    });
    await saveVariable(
      api.db,
      { id: "k-1", name: "/cpi/key", type: "value", value: "canary", options: {}, requestId: "1" },
      () => false,
    );
    expect((await yaml("/cpi_configs", absolute)).status).toBe(201);
    expect((await api.get("/cpi_configs?limit=1")).json).toMatchObject([{ properties: absolute }]);
  });

  it("may have one variable with an absolute name for all properties, whose value is a map", async () => {
    const whole = (name: string) => config("a", `, properties: ${name}`);
    expect(await yaml("/cpi_configs", whole("((all))"))).toMatchObject({
      ...{ status: 400, json: { code: 540004 } },
    });
    const save = (id: string, name: string, value: unknown) =>
      saveVariable(api.db, { id, name, type: "value", value, options: {}, requestId: id }, () => false);
    await save("w-1", "/cpi/text", "canary");
    const refused = await yaml("/cpi_configs", whole("((/cpi/text))"));
    expect(refused.status).toBe(400);
    expect(refused.body).toContain("cpis[a].properties");
    expect(refused.body).not.toContain("canary");
    await save("w-2", "/cpi/all", { key: "canary" });
    expect((await yaml("/cpi_configs", whole("((/cpi/all))"))).status).toBe(201);
  });

  it("is taken by update-config before its variables have values", async () => {
    const content = config("c", ", properties: {key: ((/cpi/later))}");
    expect((await send("POST", "/configs", { type: "cpi", name: "later", content })).status).toBe(201);
    await api.ask("DELETE", "/configs?type=cpi&name=later");
  });

  it("is shown without its properties to users who may only read", async () => {
    const secret = {
      type: "cpi",
      name: "more",
      content: config("b", ", properties: {key: canary, x: {y: canary}}"),
    };
    const { json } = await send("POST", "/configs", secret);
    const { id } = json as { readonly id: string };
    for (const path of ["/configs?latest=true&type=cpi", `/configs/${id}`]) {
      expect((await api.get(path)).body).toContain("canary");
      const { status, body } = await api.get(path, "reader");
      expect(status).toBe(200);
      expect(body).toContain("<redacted>");
      expect(body).not.toContain("canary");
    }
    const side = { from: { id }, to: { content: "cpis: []" } };
    expect((await send("POST", "/configs/diff", side)).body).not.toContain("canary");
  });
});

describe("whether a stemcell needs an upload", () => {
  const needed = async () => {
    const { json } = await send("POST", "/stemcell_uploads", { stemcell: { name: "s", version: "1" } });
    return (json as { readonly needed: boolean }).needed;
  };
  const uploaded = (cpi: string) => noteUpload(api.db, { name: "s", version: "1", cpi });

  it("depends on all CPIs, by their names of today and of before", async () => {
    for (const name of ["default", "more"])
      await api.ask("DELETE", `/configs?type=cpi&name=${name}`, { user: "admin" });
    expect(await needed()).toBe(true);
    await uploaded("");
    expect(await needed()).toBe(false);
    await yaml("/cpi_configs", "cpis: [{name: a, type: aws}]\n");
    expect(await needed()).toBe(true);
    await yaml("/cpi_configs", "cpis: [{name: a, type: aws, migrated_from: [{name: ''}]}]\n");
    expect(await needed()).toBe(false);
    await yaml(
      "/cpi_configs",
      "cpis: [{name: a, type: aws, migrated_from: [{name: ''}]}, {name: b, type: aws}]\n",
    );
    expect(await needed()).toBe(true);
    await uploaded("b");
    expect(await needed()).toBe(false);
  });
});
