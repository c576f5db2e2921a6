import { systemClock } from "@slipway/kernel/clock";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, expect, it } from "vitest";
import { workerScript } from "../documents/testing/worker-script.ts";
import { DocumentWorkers } from "../documents/workers.ts";
import { type Harness, startHarness } from "./testing/harness.ts";

sampleTests(1 / 4);

let api: Harness;
let documents: DocumentWorkers;
beforeAll(async () => {
  documents = new DocumentWorkers({ script: await workerScript(), clock: systemClock });
  api = await startHarness({ documents });
});
afterAll(async () => {
  await api.close();
  await documents.close();
});

it("a user who may only read cannot keep others from being answered", async () => {
  const content = Array.from({ length: 8_000 }, (_, i) => `k${i}: 1`).join("\n");
  const body = JSON.stringify({ type: "cloud", name: "default", content });
  let open = 10;
  const costly = Array.from({ length: open }, async () => {
    const answer = await api.ask("POST", "/configs/diff", { user: "reader", type: "application/json", body });
    open -= 1;
    return answer.status;
  });
  // One after the other, as long as the last of the ten is not answered.
  let answers = 0;
  while (open > 0) {
    expect((await api.get("/info", null)).status).toBe(200);
    answers += 1;
  }
  expect(await Promise.all(costly)).toEqual(Array(10).fill(200));
  // On the Director's own thread there would be about one for each of them.
  expect(answers).toBeGreaterThan(50);
});

it("an administrator is answered before the many costly questions of a user who may only read", async () => {
  const content = Array.from({ length: 4_000 }, (_, i) => `k${i}: 1`).join("\n");
  const body = JSON.stringify({ type: "cloud", name: "default", content });
  const diff = (user: string) => api.ask("POST", "/configs/diff", { user, type: "application/json", body });
  // Both threads have started.
  await Promise.all([diff("admin"), diff("owner")]);
  const statuses: number[] = [];
  const costly = Array.from({ length: 24 }, async () => void statuses.push((await diff("reader")).status));
  await expect.poll(() => statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
  expect((await diff("admin")).status).toBe(200);
  const before = statuses.filter((status) => status === 200).length;
  await Promise.all(costly);
  const answered = statuses.filter((status) => status === 200).length;
  expect(before).toBeLessThan(answered / 2);
  expect(statuses.filter((status) => status === 429)).toHaveLength(24 - answered);
});

it("a user who may only read cannot send a body of more than 4 MiB, an administrator can", async () => {
  const content = `a: 1\n# ${"x".repeat(5 << 20)}`;
  const body = JSON.stringify({ type: "cloud", name: "default", content });
  const diff = (user: string) => api.ask("POST", "/configs/diff", { user, type: "application/json", body });
  expect((await diff("reader")).status).toBe(413);
  expect((await diff("admin")).status).toBe(200);
});

it("a body of very many values is refused before it is read", async () => {
  const body = JSON.stringify({ type: "a", name: "b", content: "c: 1", more: Array(30_000).fill({ a: 1 }) });
  const answer = await api.ask("POST", "/configs/diff", { type: "application/json", body });
  expect(answer).toMatchObject({ status: 400, json: { code: 710001 } });
});
