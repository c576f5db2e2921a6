import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { saveConfig } from "../store/configs.ts";
import { ensureDeployment } from "../store/deployments.ts";
import { enqueue } from "../tasks/queue.ts";
import type { Body } from "./route.ts";
import { routes } from "./routes.ts";
import { basic, type Harness, startHarness, UUID } from "./testing/harness.ts";
import { seedShop } from "./testing/seed.ts";

const OTHER_UUID = "00000000-0000-4000-8000-000000000000";

/** Users who are refused everywhere except at `/info` and `/console`. */
const STRANGERS = {
  nobody: [],
  "other-admin": [`bosh.${OTHER_UUID}.admin`],
  "other-read": [`bosh.${OTHER_UUID}.read`],
  // Scopes of an unknown form.
  odd: ["bosh", "bosh.admin.x", "bosh.teams..admin", "bosh.teams.shop.x.admin", "openid", "uaa.admin"],
};

/** The letters of the table. */
const USERS = {
  r: ["bosh.releases.upload"],
  s: ["bosh.stemcells.upload"],
  B: ["bosh.teams.bank.admin"],
  b: ["bosh.teams.bank.read"],
  R: ["bosh.read"],
  O: [`bosh.${UUID}.read`],
  a: ["bosh.teams.shop.read"],
  A: ["bosh.teams.shop.admin"],
};
const ADMINS = { "own-admin": [`bosh.${UUID}.admin`], admin: ["bosh.admin"] };

/**
 * Permissions besides administrators: R reads everything (O by this Director's id), A and a are admin and reader of the team
 * whose deployment `shop`, task and configs are asked for, B and b those of another team, r and s upload releases and stemcells.
 */
const TABLE = `GET /director/certificate_expiry: RO
GET /director/status: RO
GET /tasks: BROA
GET /tasks/:id: ROaA
GET /tasks/:id/output: A
GET /tasks/:id/output?type=event: ROaA
GET /tasks/:id/output?type=result: ROaA
GET /tasks/:id/output?type=none: ROaA
GET /tasks/:id/output?type=debug: A
GET /tasks/:id/output?type=cpi: A
GET /tasks/:id/output?type=conversation: A
DELETE /task/:id: -
POST /tasks/cancel: -
GET /stemcells: BROA
POST /stemcell_uploads: BROA
POST /stemcells: s
POST /stemcells (archive): s
DELETE /stemcells/:name/:version: -
GET /releases: BROA
GET /releases/:name: BROA
POST /releases: r
POST /releases (archive): r
POST /releases/export: -
DELETE /releases/:name: -
GET /jobs: RO
POST /packages/matches: -
POST /packages/matches_compiled: -
GET /resources/:id: A
GET /configs: BbROaA
GET /configs/:id: RO
POST /configs: A
POST /configs/diff: A
DELETE /configs: A
DELETE /configs/:id: A
GET /cloud_configs: RO
POST /cloud_configs: -
POST /cloud_configs/diff: -
GET /runtime_configs: RO
POST /runtime_configs: -
POST /runtime_configs/diff: -
GET /cpi_configs: -
POST /cpi_configs: -
POST /cpi_configs/diff: -
GET /deployments: BROA
POST /deployments: A
POST /deployments/:deployment/diff: A
GET /deployment_configs: BROA
GET /deployed_variables/:name: BROA
GET /variable: -
PUT /variable: -
POST /variable/regeneration: -
GET /deployments/:deployment: ROaA
DELETE /deployments/:deployment: A
GET /deployments/:deployment/instances: ROaA
GET /deployments/:deployment/vms: ROaA
GET /deployments/:deployment/disks: ROaA
GET /deployments/:deployment/errands: ROaA
GET /deployments/:deployment/variables: A
GET /deployments/:deployment/snapshots: A
GET /deployments/:deployment/certificate_expiry: ROaA
GET /deployments/:deployment/jobs/:group/:index: A
GET /deployments/:deployment/jobs/:group/:index/snapshots: A
PUT /deployments/:deployment/jobs/:group: A
PUT /deployments/:deployment/jobs/:group/:index: A
PUT /deployments/:deployment/jobs/:group/:index/resurrection: A
GET /deployments/:deployment/jobs/:group/:index/logs: A
POST /deployments/:deployment/instance_groups/:group/:index/actions/:action: A
PUT /deployments/:deployment/instance_groups/:group/:index/ignore: A
GET /deployments/:deployment/instance_groups/:group/:index/store: A
PUT /deployments/:deployment/instance_groups/:group/:index/store: A
POST /deployments/:deployment/ssh: A
POST /deployments/:deployment/errands/:errand/runs: A
POST /deployments/:deployment/scans: A
GET /deployments/:deployment/problems: A
PUT /deployments/:deployment/problems: A
PUT /deployments/:deployment/scan_and_fix: A
POST /deployments/:deployment/snapshots: A
POST /deployments/:deployment/jobs/:group/:index/snapshots: A
DELETE /deployments/:deployment/snapshots: A
DELETE /deployments/:deployment/snapshots/:cid: A
GET /link_providers: ROaA
GET /link_consumers: ROaA
GET /links: ROaA
POST /links: BA
DELETE /links/:id: BA
GET /link_address: BbROaA
GET /disks: -
GET /orphan_disks: -
DELETE /disks/:cid: -
DELETE /orphan_disks/:cid: -
PUT /disks/:cid/attachments: -
DELETE /vms/:cid: -
GET /orphaned_vms: -
GET /networks: -
DELETE /networks/:name: -
GET /strays: -
DELETE /strays/:id: -
GET /events: BbROaA
POST /events: -
GET /events/:id: -
GET /locks: RO
GET /health: RO
GET /metrics: RO
GET /resurrection: -
PUT /resurrection: -
POST /nats/authorities: -
POST /cleanup: -
GET /cleanup/dryrun: -`;

const LINES = TABLE.split("\n").map((line) => {
  const [what = "", who = ""] = line.split(": ");
  const [, name = "", method = "", path = "", archive] =
    /^(([A-Z]+) ([^ ]+))( \(archive\))?$/.exec(what) ?? [];
  return { name: what, method, path, route: name.split("?")[0] ?? "", archive: archive !== undefined, who };
});

const TYPES: Readonly<Record<Body, string>> = {
  any: "application/json",
  json: "application/json",
  yaml: "text/yaml",
  archive: "application/x-compressed",
};

const CONFIG = { type: "cloud", name: "of-shop", content: "azs: []\n" };
const LOGS = "logs-of-shop";

/** Bodies that make a request be about the team's things. */
const BODIES: Readonly<Record<string, string>> = {
  "POST /configs": JSON.stringify({ ...CONFIG, content: "azs: [{name: z1}]\n" }),
  "POST /configs/diff": JSON.stringify(CONFIG),
  "POST /deployments": "name: shop\n",
};
const QUERIES: Readonly<Record<string, string>> = {
  "DELETE /configs": "?type=cloud&name=of-shop",
  "GET /links": "?deployment=shop",
  "GET /link_providers": "?deployment=shop",
  "GET /link_consumers": "?deployment=shop",
};

describe("permissions", () => {
  let api: Harness;
  let task: number;
  let config: number;
  beforeAll(async () => {
    const scopes = { ...STRANGERS, ...USERS, ...ADMINS };
    const users = Object.entries(scopes).map(([name, of]) => ({ name, password: `${name}-pw`, scopes: of }));
    api = await startHarness({ users });
    const { db } = api;
    await seedShop(db, ["shop"]);
    await ensureDeployment(db, "platform");
    await ensureDeployment(db, "bank", ["bank"]);
    task = await enqueue(db, {
      type: "fetch_logs",
      description: "",
      user: "A",
      deployment: "shop",
      params: {},
    });
    await enqueue(db, { type: "update_stemcell", description: "", user: "admin", params: {} });
    await db.updateTable("tasks").set({ result: LOGS, state: "done" }).where("id", "=", task).execute();
    await saveConfig(db, { ...CONFIG, team: "shop" });
    await saveConfig(db, { ...CONFIG, name: "default" });
    const saved = await saveConfig(db, { ...CONFIG, name: "other-of-shop", team: "shop" });
    config = saved.ok ? saved.config.id : 0;
  });
  afterAll(() => api.close());

  const pathOf = (line: (typeof LINES)[number], deployment: string) =>
    line.path
      .replace(":deployment", deployment)
      .replace("/tasks/:id", `/tasks/${task}`)
      .replace("/task/:id", `/task/${task}`)
      .replace("/configs/:id", `/configs/${config}`)
      .replace("/resources/:id", `/resources/${LOGS}`)
      .replace(":group/:index", "web/0")
      .replaceAll(/:\w+/g, "1") + (QUERIES[line.name] ?? "");

  const routeOf = (line: (typeof LINES)[number]) => {
    const found = routes.filter(({ method, path }) => `${method} ${path}` === line.route);
    return found.find(({ body }) => (body === "archive") === line.archive) ?? found[0];
  };

  const ask = async (line: (typeof LINES)[number], user: string | null, deployment = "shop", headers = {}) =>
    await api.ask(line.method, pathOf(line, deployment), {
      user,
      headers,
      ...(line.method === "GET"
        ? {}
        : { type: TYPES[routeOf(line)?.body ?? "any"], body: BODIES[line.name] ?? "{}" }),
    });

  const mayAsk = async (line: (typeof LINES)[number], user: string, deployment?: string) => {
    const before = api.queued.length;
    const { status, body } = await ask(line, user, deployment);
    if (status !== 401) return true;
    expect(JSON.parse(body), line.name).toMatchObject({ code: 600000 });
    expect(api.queued.length, `${line.name} by ${user}`).toBe(before);
    return false;
  };

  it("are written down for every route except /info and the files of the console, which need none", () => {
    const known = new Set(LINES.map(({ name, route, archive }) => (archive ? name : route)));
    const all = routes.map(
      ({ method, path, body }) => `${method} ${path}${body === "archive" ? " (archive)" : ""}`,
    );
    expect(all.filter((one) => !known.has(one))).toEqual(["GET /info", "GET /console", "GET /console/:file"]);
    expect([...known].filter((one) => !all.includes(one))).toEqual([]);
  });

  it.each(LINES)("$name: only $who and administrators", async (line) => {
    expect((await ask(line, null)).status).toBe(401);
    // By turns: guesses at one name are answered later and later.
    const names = [...Object.keys(USERS), ...Object.keys(ADMINS)];
    const wrong = { authorization: basic(names[LINES.indexOf(line) % names.length] ?? "", "wrong") };
    expect((await ask(line, null, "shop", wrong)).status).toBe(401);
    for (const user of Object.keys(STRANGERS)) expect(await mayAsk(line, user), user).toBe(false);
    let who = "";
    // Those who may change it come last.
    for (const user of Object.keys(USERS)) if (await mayAsk(line, user)) who += user;
    expect(who).toBe(line.who === "-" ? "" : line.who);
    for (const user of Object.keys(ADMINS)) expect(await mayAsk(line, user), user).toBe(true);
  });

  it.each(LINES.filter(({ path }) => path.includes(":deployment")))(
    "$name: of a deployment without a team nobody of a team",
    async (line) => {
      for (const user of ["A", "a", "B", "b"]) expect(await mayAsk(line, user, "platform"), user).toBe(false);
      for (const user of ["R", "O"])
        expect(await mayAsk(line, user, "platform"), user).toBe(line.who.includes(user));
    },
  );

  it("lists show teams what is theirs", async () => {
    const seen = async (path: string, user: string, key: string) =>
      ((await api.get(path, user)).json as Record<string, unknown>[]).map((one) => one[key]);
    expect(await seen("/deployments", "A", "name")).toEqual(["shop"]);
    expect(await seen("/deployments", "B", "name")).toEqual(["bank"]);
    expect(await seen("/deployments", "R", "name")).toEqual(["bank", "platform", "shop"]);
    expect(await seen("/deployments", "A", "teams")).toEqual([["shop"]]);
    expect(await seen("/tasks?verbose=2", "A", "id")).toEqual([task]);
    expect(await seen("/tasks?verbose=2", "B", "id")).toEqual([]);
    expect(await seen("/tasks?verbose=2", "R", "id")).toEqual([task + 1, task]);
  });

  it("tells that something does not exist only to users who might see it", async () => {
    expect(await api.get("/deployments/none", "A")).toMatchObject({ status: 404, json: { code: 70000 } });
    expect(await api.get("/tasks/999", "a")).toMatchObject({ status: 404, json: { code: 10000 } });
    expect(await api.get("/deployments/none", "s")).toMatchObject({ status: 401, json: { code: 600000 } });
    expect(await api.get("/tasks/999", "s")).toMatchObject({ status: 401, json: { code: 600000 } });
  });
});
