import { systemClock } from "@slipway/kernel/clock";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { Gate, HELD } from "../documents/testing/gate.ts";
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

it("an administrator is answered while the many costly questions of a user who may only read wait", async () => {
  const gate = new Gate();
  const threads = new DocumentWorkers({ script: await gate.script(), clock: fakeClock() });
  const director = await startHarness({ documents: threads });
  const requests: Promise<unknown>[] = [];
  onTestFinished(async () => {
    gate.open();
    await Promise.all(requests);
    await director.close();
    await threads.close();
  });
  const diff = (user: string, content: string, statuses: number[]) => {
    const body = JSON.stringify({ type: "cloud", name: "default", content });
    const answer = director.ask("POST", "/configs/diff", { user, type: "application/json", body });
    requests.push(answer.then(({ status }) => statuses.push(status)));
  };
  const holdsAll = () => gate.reached > 1;
  const reader: number[] = [];
  for (let i = 0; i < 24; i++) diff("reader", HELD, reader);
  // One is under way, 16 wait, and the others are refused.
  await expect.poll(() => holdsAll() || (gate.reached === 1 && reader.length === 7)).toBe(true);
  const admin: number[] = [];
  diff("admin", `a: 1\n# ${"x".repeat(5000)}`, admin);
  await expect.poll(() => holdsAll() || admin.length === 1).toBe(true);
  expect({ admin, reader }).toEqual({ admin: [200], reader: Array(7).fill(429) });
  gate.open();
  await Promise.all(requests);
  expect(reader).toEqual([...Array(7).fill(429), ...Array(17).fill(200)]);
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
