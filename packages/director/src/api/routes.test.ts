import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Body } from "./route.ts";
import { routes } from "./routes.ts";
import { type Harness, startHarness } from "./testing/harness.ts";

const TYPES: Readonly<Record<Body, string>> = {
  any: "application/json",
  json: "application/json",
  yaml: "text/yaml",
  archive: "application/x-compressed",
};

describe("every route", () => {
  let api: Harness;
  beforeAll(async () => {
    api = await startHarness();
  });
  afterAll(() => api.close());

  const guarded = routes.filter(({ permission }) => permission !== "anyone");
  const ask = (route: (typeof routes)[number], user: string | null) =>
    api.ask(route.method, route.path.replaceAll(/:\w+/g, "1"), {
      user,
      ...(route.method === "GET" ? {} : { type: TYPES[route.body], body: "{}" }),
    });

  it("but /info refuses strangers, and users without a scope, before it does anything", async () => {
    expect(routes.filter(({ permission }) => permission === "anyone").map(({ path }) => path)).toEqual([
      "/info",
    ]);
    for (const route of guarded) {
      const name = `${route.method} ${route.path}`;
      expect((await ask(route, null)).status, name).toBe(401);
      expect((await ask(route, "nobody")).json, name).toMatchObject({ code: 600000 });
    }
    expect(api.queued).toEqual([]);
    expect(api.errors).toEqual([]);
  });

  it("answers an administrator with something the CLI can read, whatever it is", async () => {
    for (const route of guarded) {
      const answer = await ask(route, "admin");
      const name = `${route.method} ${route.path}`;
      expect(answer.status, name).toBeLessThan(500);
      expect(answer.status, name).not.toBe(202);
      if (answer.status >= 400 && answer.body.startsWith("{")) {
        expect(answer.json, name).toEqual({ code: expect.any(Number), description: expect.any(String) });
      }
    }
    expect(api.errors).toEqual([]);
  });

  it("that changes something is not for readers", async () => {
    const changing = guarded.filter(({ method }) => method !== "GET");
    const open = changing.filter(({ permission }) => permission === "read").map(({ path }) => path);
    expect(open).toEqual(["/stemcell_uploads", "/configs/diff"]);
  });
});
