import { fakeClock } from "@slipway/testkit/fake-clock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authenticator } from "./auth.ts";
import { failureLimit } from "./failure-limit.ts";
import { basic, type Harness, startHarness, UUID } from "./testing/harness.ts";

describe("credentials", () => {
  const users = [
    { name: "admin", password: "pw:with:colons" },
    { name: "empty", password: "" },
  ];
  const judge = (header: string | undefined) => authenticator(users)(header).kind;

  it.each([
    [basic("admin", "pw:with:colons"), "user"],
    [basic("admin", "pw:with:colons").replace("Basic", "bAsIc"), "user"],
    [basic("admin", "pw"), "wrong"],
    [basic("admin", ""), "wrong"],
    [basic("Admin", "pw:with:colons"), "wrong"],
    [basic("stranger", "pw:with:colons"), "wrong"],
    [basic("empty", ""), "wrong"],
    [basic("", ""), "wrong"],
    ["Basic", "wrong"],
    ["Basic !!!", "wrong"],
    [`Basic ${Buffer.from("no-colon").toString("base64")}`, "wrong"],
    ["Bearer x", "wrong"],
    ["", "wrong"],
    [undefined, "nobody"],
  ])("%j are judged %s", (header, verdict) => expect(judge(header)).toBe(verdict));

  it("without users, or with two of one name, are a mistake at the start", () => {
    expect(() => authenticator([])).toThrow(/there are none/);
    expect(() => authenticator([{ name: "a:b", password: "x" }])).toThrow(/colon/);
    const twice = [
      { name: "a", password: "x" },
      { name: "a", password: "y" },
    ];
    expect(() => authenticator(twice)).toThrow(/twice/);
  });
});

describe("the API", () => {
  let api: Harness;
  beforeAll(async () => {
    api = await startHarness();
  });
  afterAll(() => api.close());

  it("answers /info to anybody, and bad credentials there with user null", async () => {
    for (const headers of [{}, { authorization: basic("admin", "wrong") }, { authorization: "junk" }]) {
      const answer = await api.ask("GET", "/info", { user: null, headers });
      expect(answer).toMatchObject({ status: 200, json: { user: null, uuid: UUID, cpi: "local" } });
    }
    expect(await api.get("/info")).toMatchObject({ status: 200, json: { user: "admin" } });
    expect((await api.get("/info")).json).toMatchObject({
      user_authentication: { type: "basic", options: {} },
      features: { snapshots: { status: false } },
    });
  });

  it("asks for credentials with plain text that names the path, and keeps the query to itself", async () => {
    const answer = await api.get("/tasks?state=canary", null);
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe('Basic realm="BOSH Director"');
    expect(answer.body).toContain("/tasks");
    expect(answer.body).not.toContain("canary");
  });

  it("answers a missing scope with 401 and code 600000", async () => {
    const answer = await api.ask("DELETE", "/disks/d", { user: "reader" });
    expect(answer).toMatchObject({ status: 401, json: { code: 600000 } });
    expect(answer.body).toContain(`bosh.${UUID}.admin`);
    expect(api.queued).toEqual([]);
  });

  it("lets who is right pass, however often others failed, and slows down who fails", async () => {
    const clock = fakeClock();
    const other = await startHarness({ clock });
    try {
      const guess = (name: string) =>
        other.ask("GET", "/tasks", { user: null, headers: { authorization: basic(name, "guess") } });
      for (let i = 0; i < 10; i++) expect((await guess("admin")).status).toBe(401);
      let told = false;
      const late = guess("admin").then((answer) => {
        told = true;
        return answer;
      });
      await expect.poll(() => clock.slept.length).toBe(1);
      expect(told).toBe(false);
      // Meanwhile: the admin, and who mistypes another name.
      expect((await other.get("/tasks")).status).toBe(200);
      expect((await guess("reader")).status).toBe(401);
      await clock.advance(clock.slept[0] ?? 0);
      expect((await late).status).toBe(401);
      await clock.advance(60_000);
      expect((await guess("admin")).status).toBe(401);
    } finally {
      await other.close();
    }
  });

  it("holds back a bounded number of answers", async () => {
    const limit = failureLimit(fakeClock());
    const told = Array.from({ length: 211 }, () => limit.failed("a"));
    expect(await told.at(-1)).toBe(true);
  });
});
