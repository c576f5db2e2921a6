import { fakeClock } from "@slipway/testkit/fake-clock";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { authenticator } from "./auth.ts";
import { FailureLimit } from "./failure-limit.ts";
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

  it("are a mistake at the start without users, or with two of one name", () => {
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

  it("answers /info to all callers, and bad credentials there with user null", async () => {
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
});

describe("after failed logins", () => {
  async function attacked() {
    const clock = fakeClock();
    const api = await startHarness({ clock });
    onTestFinished(() => api.close());
    const login = async (name: string, password: string, from = "127.0.0.1", path = "/tasks") => {
      const headers = { authorization: basic(name, password) };
      return await api.ask("GET", path, { user: null, from, headers });
    };
    return { clock, login };
  }

  it("refuses a name from one address without judging its password", async () => {
    const { clock, login } = await attacked();
    for (let i = 0; i < 10; i++) expect((await login("admin", `guess ${i}`)).status).toBe(401);
    await clock.advance(10_500);
    // The right password gets the same answer as a wrong one.
    for (const password of ["guess", "admin-pw"]) {
      for (const path of ["/tasks", "/info"]) {
        const answer = await login("admin", password, "127.0.0.1", path);
        expect(answer).toMatchObject({ status: 429, headers: { "retry-after": "50" } });
        expect(answer.body).toContain("try again in 50 s");
      }
    }
    expect((await login("admin", "admin-pw", "127.0.0.2")).status).toBe(200);
    expect((await login("reader", "reader-pw")).status).toBe(200);
    await clock.advance(49_500);
    expect((await login("admin", "admin-pw")).status).toBe(200);
  });

  it("judges ten of many guesses that arrive together", async () => {
    const { login } = await attacked();
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => login("admin", `guess ${i}`)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
  });

  it("counts the same wrong password once", async () => {
    const { login } = await attacked();
    for (let i = 0; i < 30; i++) expect((await login("admin", "an old password")).status).toBe(401);
    expect((await login("admin", "admin-pw")).status).toBe(200);
  });

  it("refuses an unknown name in the same way as a known one", async () => {
    const { login } = await attacked();
    for (let i = 0; i < 10; i++) await login("stranger", `guess ${i}`);
    const unknown = await login("stranger", "guess");
    for (let i = 0; i < 10; i++) await login("admin", `guess ${i}`);
    const known = await login("admin", "guess");
    expect([known.status, known.body]).toEqual([unknown.status, unknown.body]);
  });

  it("counts names beyond the first 64 of an address as one name", () => {
    const limit = new FailureLimit(fakeClock());
    const tried = Array.from({ length: 1000 }, (_, i) => ({ name: `n${i}`, pair: `p${i}` }));
    const judged = tried.filter((guess) => {
      if (limit.wait(guess, "10.0.0.1") > 0) return false;
      limit.failed(guess, "10.0.0.1");
      return true;
    });
    expect(judged).toHaveLength(64 + 10);
    expect(limit.wait({ name: "n1000", pair: "p" }, "10.0.0.2")).toBe(0);
  });

  it("counts the IPv6 addresses of one network as one address", () => {
    const limit = new FailureLimit(fakeClock());
    for (let i = 0; i < 10; i++) limit.failed({ name: "a", pair: `p${i}` }, `2001:db8::${i}`);
    expect(limit.wait({ name: "a", pair: "p" }, "2001:db8::ffff")).toBeGreaterThan(0);
    expect(limit.wait({ name: "a", pair: "p" }, "2001:db8:0:1::1")).toBe(0);
  });

  it("remembers a bounded number of failures", () => {
    const limit = new FailureLimit(fakeClock());
    for (let i = 0; i < 110_000; i++)
      limit.failed({ name: "a", pair: "p" }, `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    expect(limit.size).toBeLessThanOrEqual(100_000);
    expect(limit.size).toBeGreaterThan(90_000);
  });
});
