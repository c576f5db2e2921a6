import { messageTrail } from "@slipway/kernel/errors";
import { sampleOf } from "@slipway/testkit/sample";
import { afterAll, beforeAll, expect, it } from "vitest";
import { routes } from "./routes.ts";
import { type Harness, startHarness } from "./testing/harness.ts";

let api: Harness;
beforeAll(async () => {
  api = await startHarness();
});
afterAll(() => api.close());

const NAMES = [
  "%00",
  "a%00b",
  "%ED%A0%80",
  "x".repeat(4000),
  "y".repeat(2000),
  "%F0%9F%92%A9".repeat(300),
  "..%2F..%2Fetc",
  "'%22;--",
];
const TYPES = {
  any: "text/plain",
  yaml: "text/yaml",
  json: "application/json",
  archive: "application/x-compressed",
};

it("no name in a path or query makes the Director fail, on any route", async () => {
  for (const { method, path, body } of routes) {
    for (const name of sampleOf(`hostile names ${method} ${path}`, NAMES, 3)) {
      const filled = path.replace(/:\w+/g, name);
      for (const query of [
        "",
        `?type=${name}&name=${name}&state=${name}&limit=${name}&deployment=${name}&before=${name}`,
      ]) {
        if (filled === path && query === "") continue;
        const sent = method === "GET" ? {} : { type: TYPES[body], body: body === "json" ? "{}" : "a: 1" };
        const answer = await api.ask(method, `${filled}${query}`, sent);
        expect(
          answer.status,
          `${method} ${path} with ${name.slice(0, 20)}${query.slice(0, 10)}`,
        ).toBeLessThan(500);
      }
    }
  }
  expect(api.errors).toEqual([]);
});

it.each([
  ["/configs", { type: "a\u0000", name: "b", content: "c: 1" }],
  ["/configs", { type: "a", name: "b\ud800", content: "c: 1" }],
  ["/configs", { type: "a", name: "b", content: "c: 1 # \u0000" }],
  ["/configs/diff", { type: "a", name: "b\u0000", content: "c: 1" }],
  ["/tasks/cancel", { deployment: "\u0000" }],
  ["/configs", { type: "x".repeat(4000), name: "b", content: "c: 1" }],
  ["/configs", { type: "a", name: "x".repeat(4000), content: "c: 1" }],
  ["/stemcells", { location: "https://x/\u0000" }],
])("JSON for %s with what no store keeps is refused", async (path, body) => {
  const text = JSON.stringify(body);
  const answer = await api.ask("POST", path, { type: "application/json", body: text });
  expect(answer).toMatchObject({ status: 400, json: { code: 40005 } });
  expect(api.errors).toEqual([]);
});

it("an internal failure leaves its whole cause with the Director, and none of it with the caller", async () => {
  const broken = await startHarness();
  try {
    await broken.db.schema.dropTable("configs").cascade().execute();
    const answer = await broken.get("/configs");
    expect(answer).toMatchObject({ status: 500, json: { code: 100 } });
    expect(answer.body).not.toContain("relation");
    const [error] = broken.errors as Error[];
    expect(messageTrail(error)).toMatch(
      /GET \/configs could not be answered.*relation "configs" does not exist/s,
    );
  } finally {
    await broken.close();
  }
});
