import { systemClock } from "@slipway/kernel/clock";
import { rsaKey, signedToken, UaaServer } from "@slipway/testkit/uaa-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findDeployment } from "../store/deployments.ts";
import { addEvent } from "../store/events.ts";
import { enqueue } from "../tasks/queue.ts";
import { openTokens, type Tokens } from "../uaa/tokens.ts";
import { type Harness, startHarness, UUID } from "./testing/harness.ts";

const users = [
  { name: "admin", password: "admin-pw" },
  { name: "ada", password: "ada-pw", scopes: ["bosh.teams.shop.admin"] },
  { name: "ann", password: "ann-pw", scopes: ["bosh.teams.shop.read"] },
  { name: "bob", password: "bob-pw", scopes: ["bosh.teams.bank.admin"] },
  { name: "two", password: "two-pw", scopes: ["bosh.teams.shop.admin", "bosh.teams.bank.admin"] },
];

let uaa: UaaServer;
let tokens: Tokens | undefined;
let api: Harness;
beforeAll(async () => {
  uaa = await UaaServer.start();
  tokens = await openTokens({ url: uaa.url, ca: uaa.ca }, { clock: systemClock, onError: () => undefined });
  api = await startHarness({ users, tokens });
});
afterAll(async () => {
  await api.close();
  tokens?.close();
  await uaa.close();
});

const deploy = (name: string, user: string, query = "") =>
  api.ask("POST", `/deployments${query}`, { user, type: "text/yaml", body: `name: ${name}\n` });
const config = (user: string, document: object) =>
  api.ask("POST", "/configs", { user, type: "application/json", body: JSON.stringify(document) });
const CLOUD = { type: "cloud", content: "azs: []\n" };

describe("a deployment", () => {
  it("is the teams' of who deploys it first, and stays theirs", async () => {
    expect((await deploy("first", "two")).status).toBe(302);
    expect((await deploy("first", "ada")).status).toBe(302);
    expect((await deploy("first", "admin")).status).toBe(302);
    expect((await findDeployment(api.db, "first"))?.teams).toEqual(["bank", "shop"]);
    expect((await deploy("second", "bob")).status).toBe(302);
    expect(await deploy("second", "ada")).toMatchObject({ status: 401, json: { code: 600000 } });
    expect((await deploy("third", "ann")).status).toBe(401);
    expect(await findDeployment(api.db, "third")).toBeUndefined();
    expect((await deploy("theirs", "admin")).status).toBe(302);
    expect((await findDeployment(api.db, "theirs"))?.teams).toEqual([]);
    expect((await deploy("theirs", "two")).status).toBe(401);
  });

  it("is deployed with the configs of its teams, and those without a team", async () => {
    const id = async (user: string, name: string) =>
      Number(((await config(user, { ...CLOUD, name })).json as { id: string }).id);
    const [ours, theirs, all] = [
      await id("ada", "ours"),
      await id("bob", "theirs"),
      await id("admin", "all"),
    ];
    await deploy("mine", "ada");
    expect(api.queued.at(-1)?.params).toMatchObject({ cloud_config_ids: [all, ours] });
    const context = (ids: number[]) =>
      `?context=${encodeURIComponent(JSON.stringify({ cloud_config_ids: ids, runtime_config_ids: [] }))}`;
    expect((await deploy("mine", "ada", context([ours]))).status).toBe(302);
    expect((await deploy("mine", "ada", context([theirs]))).json).toMatchObject({ code: 190025 });
    const diff = await api.ask("POST", "/deployments/new/diff", {
      user: "bob",
      type: "text/yaml",
      body: "name: new\n",
    });
    expect(diff.json).toMatchObject({ context: { cloud_config_ids: [all, theirs] } });
  });
});

describe("a config", () => {
  it("belongs to the first team of its author, and stays there after changes by other users", async () => {
    const made = { ...CLOUD, name: "kept" };
    expect((await config("two", made)).json).toMatchObject({ team: "shop" });
    expect((await config("admin", { ...made, content: "azs: [{name: a}]\n" })).json).toMatchObject({
      team: "shop",
    });
    expect((await config("bob", { ...made, content: "azs: [{name: b}]\n" })).status).toBe(401);
    expect((await config("admin", { ...CLOUD, name: "default" })).json).toMatchObject({ team: null });
    expect((await config("ada", { ...CLOUD, name: "default", content: "azs: [{name: c}]\n" })).status).toBe(
      401,
    );
  });

  it("is listed to its team, with what it holds", async () => {
    const names = async (user: string) =>
      ((await api.get("/configs?latest=true", user)).json as { name: string }[]).map(({ name }) => name);
    expect(await names("ann")).toEqual(["kept", "ours"]);
    expect(await names("bob")).toEqual(["theirs"]);
    expect(await names("admin")).toEqual(expect.arrayContaining(["default", "kept", "ours", "theirs"]));
  });

  it("is for administrators if it names programs that the Director runs", async () => {
    const cpis = { type: "cpi", name: "mine", content: "cpis: []\n" };
    expect((await config("ada", cpis)).json).toMatchObject({ code: 600000 });
    expect((await config("admin", cpis)).status).not.toBe(401);
  });
});

it("events are of the team's tasks and deployments, and of what one did oneself", async () => {
  const { db } = api;
  const event = (user: string, objectName: string, more: object = {}) =>
    addEvent(db, { user, action: "update", objectType: "x", objectName, ...more });
  const task = await enqueue(db, {
    type: "update_deployment",
    description: "",
    user: "ada",
    deployment: "mine",
    params: {},
  });
  await event("admin", "by-name", { deployment: "mine" });
  await event("admin", "by-task", { taskId: task });
  await event("admin", "of-others", { deployment: "second" });
  await event("admin", "of-nobody");
  await event("ann", "own");
  const seen = async (user: string) =>
    ((await api.get("/events?object_type=x", user)).json as { object_name: string }[]).map(
      (one) => one.object_name,
    );
  expect(await seen("ann")).toEqual(["own", "by-task", "by-name"]);
  expect(await seen("bob")).toEqual(["of-others"]);
  expect(await seen("admin")).toEqual(["own", "of-nobody", "of-others", "by-task", "by-name"]);
});

describe("a token", () => {
  const bearer = (token: string, scheme = "bearer") => ({
    user: null,
    headers: { authorization: `${scheme} ${token}` },
  });
  const ADA = { user: "ada@uaa", client: "bosh_cli", scopes: ["bosh.teams.shop.admin"] };

  it("is what /info tells clients to come with", async () => {
    expect((await api.get("/info", null)).json).toMatchObject({
      user_authentication: { type: "uaa", options: { url: uaa.url, urls: [uaa.url] } },
    });
  });

  it("lets its user in beside the users of the configuration, with the name of the token", async () => {
    const token = uaa.token(uaa.claims(ADA));
    for (const scheme of ["bearer", "Bearer"])
      expect((await api.ask("GET", "/info", bearer(token, scheme))).json).toMatchObject({ user: "ada@uaa" });
    const { status } = await api.ask("POST", "/deployments", {
      ...bearer(token),
      type: "text/yaml",
      body: "name: mine\n",
    });
    expect(status).toBe(302);
    expect(api.queued.at(-1)).toMatchObject({ user: "ada@uaa", deployment: "mine" });
    expect(await api.ask("GET", "/deployments/second", bearer(token))).toMatchObject({ status: 401 });
    expect((await api.get("/deployments/second", "admin")).status).toBe(200);
  });

  it("counts here if it is for this Director alone", async () => {
    const of = (uuid: string) =>
      bearer(uaa.token(uaa.claims({ client: "ci", scopes: [`bosh.${uuid}.admin`] })));
    expect((await api.ask("GET", "/disks", of(UUID))).status).toBe(200);
    expect((await api.ask("GET", "/disks", of("00000000-0000-4000-8000-000000000000"))).status).toBe(401);
  });

  it("is refused as wrong passwords are if it is wrong, however often, and is never shown", async () => {
    const forged = signedToken({ alg: "RS256" }, uaa.claims(ADA), rsaKey("key-1").privateKey);
    for (let i = 0; i < 15; i++) {
      const answer = await api.ask("GET", "/tasks", bearer(forged));
      expect(answer).toMatchObject({ status: 401, body: "Not authorized: '/tasks'\n" });
    }
    expect(JSON.stringify(api.errors)).not.toContain(forged.slice(0, 20));
    expect((await api.ask("GET", "/info", bearer(forged))).json).toMatchObject({ user: null });
  });
});

it("while the UAA cannot be asked for keys, tokens are answered with 503, and passwords as ever", async () => {
  const away = await openTokens(
    { url: "https://127.0.0.1:1" },
    { clock: systemClock, onError: () => undefined },
  );
  const other = await startHarness({ users, tokens: away });
  try {
    const headers = { authorization: `bearer ${uaa.token(uaa.claims({ client: "ci", scopes: [] }))}` };
    const answer = await other.ask("GET", "/tasks", { user: null, headers });
    expect(answer).toMatchObject({ status: 503, json: { description: expect.stringContaining("keys") } });
    expect((await other.ask("GET", "/info", { user: null, headers })).json).toMatchObject({ user: null });
    expect((await other.get("/tasks", "admin")).status).toBe(200);
  } finally {
    await other.close();
  }
});
