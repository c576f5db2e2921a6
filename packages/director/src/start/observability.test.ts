import { expectNoSecrets } from "@slipway/testkit/canaries";
import { proxyServer } from "@slipway/testkit/proxy-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPrometheus } from "../metrics/testing/prometheus.ts";
import { type ReceivedSpan, receiver } from "../tracing/testing/receiver.ts";
import { smallDirector } from "./testing/small-director.ts";

let small: Awaited<ReturnType<typeof smallDirector>>;
let collector: Awaited<ReturnType<typeof receiver>>;
let proxy: Awaited<ReturnType<typeof proxyServer>>;
beforeAll(async () => {
  collector = await receiver();
  proxy = await proxyServer({ password: "CANARY-of-the-proxy" });
  const through = `http://u:CANARY-of-the-proxy@127.0.0.1:${proxy.port}`;
  small = await smallDirector({
    proxy: { http: through, https: through, no_proxy: "direct.invalid" },
    tracing: {
      otlp: { endpoint: collector.url, headers: { authorization: "Bearer CANARY-of-the-collector" } },
    },
  });
});
afterAll(async () => {
  await small.close();
  await collector.close();
  await proxy.close();
});

type Line = Readonly<Record<string, unknown>>;
const read = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as Line);

describe("a request", () => {
  it("is followed by its id through log, task and CPI, and no secret is on the way", async () => {
    const { lines, ask, taskOf } = small;
    await small.logging({ level: "debug", format: "json" });
    const id = await taskOf("/vms/vm-1?token=CANARY-in-a-query", { "x-request-id": "trail-1" });
    const broken = await taskOf("/vms/vm-broken", { "x-bosh-context-id": "trail-2" });

    const mine = read(lines).filter(({ request }) => request === "trail-1");
    expect(mine.map(({ message }) => message)).toEqual(
      expect.arrayContaining(["DELETE /vms/vm-1 302", "task begins", "info", "delete_vm", "task done"]),
    );
    for (const line of mine) expect(line).toMatchObject({ task: id });
    const call = mine.find(({ message }) => message === "delete_vm");
    expect(call).toMatchObject({ to: "cpi:", cpi_request: expect.stringMatching(/^cpi-/) });
    const failed = read(lines).find(({ request, level }) => request === "trail-2" && level === "warn");
    expect(failed).toMatchObject({ message: "task error", task: broken, error: expect.any(String) });

    expect(JSON.parse((await ask("GET", `/tasks/${id}`)).text)).toMatchObject({ context_id: "trail-1" });
    const output = async (type: string) => (await ask("GET", `/tasks/${id}/output?type=${type}`)).text;
    const [debug, cpi] = [await output("debug"), await output("cpi")];
    expect(debug).toContain("for request trail-1");
    expect(cpi).toContain("for request trail-1");
    // As the CPI's own log has it.
    expect(cpi).toContain(`[${String(call?.cpi_request)}] delete_vm with`);
    expectNoSecrets([...lines, debug, cpi].join("\n"));
  });

  it("gets an id in its answer if it has none of its own, or an unusable one", async () => {
    const { lines, ask } = small;
    await small.logging({ format: "json", access_events: true });
    const asked = async (headers: Readonly<Record<string, string>>) =>
      (await ask("GET", "/tasks", headers)).header("x-request-id") ?? "";
    const made = [
      await asked({}),
      await asked({ "x-request-id": "x".repeat(65) }),
      await asked({ "x-request-id": "a b" }),
    ];
    expect(new Set(made).size).toBe(3);
    for (const id of made) expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await asked({ "x-request-id": "mine" })).toBe("mine");
    await expect
      .poll(() =>
        read(lines)
          .filter(({ message }) => message === "GET /tasks 200")
          .map(({ request }) => request),
      )
      .toEqual([...made, "mine"]);
  });
});

describe("the log", () => {
  it("tells of what changes something, and at another level, taken over while it runs, of the rest", async () => {
    const { lines, ask, taskOf } = small;
    await small.logging({});
    await taskOf("/vms/vm-1");
    await expect
      .poll(() => lines.join("\n"))
      .toMatch(/INFO DELETE \/vms\/vm-1 302 request=\S+ ms=\d+ user=admin/);
    expect(lines.join("\n")).not.toContain("GET /tasks");
    await small.logging({ level: "debug" });
    await ask("GET", "/deployments");
    await expect.poll(() => lines.join("\n")).toContain("DEBUG GET /deployments 200");
    await small.logging({ level: "error" });
    await taskOf("/vms/vm-broken");
    expect(lines).toEqual([]);
  });
});

describe("the Director itself", () => {
  it("shows itself in metrics: queue, workers, database, disk, certificates, requests, calls", async () => {
    await small.taskOf("/vms/vm-broken");
    const families = readPrometheus((await small.ask("GET", "/metrics")).text);
    const sample = (name: string, labels = "") =>
      families.get(name.replace(/_(count|bucket)$/, ""))?.samples.get(`${name}{${labels}}`);
    expect(sample("slipway_tasks", 'state="queued"')).toBe(0);
    expect(sample("slipway_tasks_oldest_queued_seconds")).toBe(0);
    expect(sample("slipway_workers")).toBe(4);
    expect(sample("slipway_database_up")).toBe(1);
    for (const name of [
      "slipway_database_size_bytes",
      "slipway_disk_free_bytes",
      "slipway_director_start_seconds",
    ])
      expect(sample(name), name).toBeGreaterThan(1e6);
    const until = [...(families.get("slipway_certificate_until_seconds")?.samples.values() ?? [])];
    expect(until).toEqual([expect.any(Number)]);
    expect(until[0]).toBeGreaterThan(1.7e9);
    expect(sample("slipway_http_request_seconds_count", 'method="DELETE",route="/vms/:cid"')).toBeGreaterThan(
      0,
    );
    const call = 'peer="cpi",cpi="",message="delete_vm"';
    expect(sample("slipway_call_seconds_count", call)).toBeGreaterThan(0);
    expect(sample("slipway_call_errors_total", call)).toBeGreaterThan(0);
    expect(sample("slipway_task_seconds_count", 'type="delete_vm",state="error"')).toBeGreaterThan(0);
  });

  it("shows its status to users who may read", async () => {
    const { status, text } = await small.ask("GET", "/director/status");
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      name: "slipway",
      version: "0.0.0",
      problems: [],
      queue: { queued: 0, oldest_queued_s: null },
      workers: { slots: 4 },
      database: { kind: "embedded", reachable: true, size_bytes: expect.any(Number) },
      disk: { directory: expect.stringContaining(small.dir), free_bytes: expect.any(Number) },
      certificates: [{ days_left: expect.any(Number) }],
      nats: null,
    });
    expect((await small.ask("GET", "/director/status", { authorization: "" })).status).toBe(401);
  });
});

it("downloads come through the proxy, except from hosts that are excluded", async () => {
  const tasks = [
    await small.stemcellFrom("https://files.example/stemcell.tgz"),
    await small.stemcellFrom("https://direct.invalid/stemcell.tgz"),
  ];
  expect(proxy.seen).toEqual(["CONNECT files.example:443"]);
  for (const id of tasks)
    for (const type of ["event", "debug"])
      expectNoSecrets((await small.ask("GET", `/tasks/${id}/output?type=${type}`)).text);
});

describe("a trace", () => {
  const TRACE = "0af7651916cd43dd8448eb211c80319c";
  const CALLER = "b7ad6b7169203331";
  const attribute = ({ attributes }: ReceivedSpan, wanted: string) =>
    attributes.find(({ key }) => key === wanted)?.value;

  it("has a task with its steps and calls, in the trace of the caller, unless the caller does not want one", async () => {
    await small.logging({});
    const id = await small.taskOf("/vms/vm-1", { traceparent: `00-${TRACE}-${CALLER}-01` });
    const other = await small.taskOf("/vms/vm-broken", { traceparent: "junk" });
    const unwanted = await small.taskOf("/vms/vm-2", { traceparent: `00-${TRACE}-${CALLER}-00` });
    // What is left is sent then.
    await small.close();
    const { seen } = collector;
    expect(seen.wrong).toEqual([]);
    expect(seen.headers[0]).toMatchObject({ authorization: "Bearer CANARY-of-the-collector" });

    const mine = seen.spans.filter(({ traceId }) => traceId === TRACE);
    const named = (name: string) => mine.find((span) => span.name === name) as ReceivedSpan;
    const task = named("task delete_vm");
    expect(task).toMatchObject({ parentSpanId: CALLER, kind: 1, status: {} });
    expect(attribute(task, "slipway.task.id")).toEqual({ intValue: String(id) });
    const isOf = (span: ReceivedSpan, vm: string) =>
      JSON.stringify(attribute(span, "slipway.step")) === JSON.stringify({ stringValue: vm });
    const step = mine.find((span) => isOf(span, "vm-1")) as ReceivedSpan;
    expect(step).toMatchObject({ name: "Delete VM", parentSpanId: task.spanId });
    const call = named("cpi delete_vm");
    expect(call).toMatchObject({ parentSpanId: step.spanId, kind: 3 });
    expect(attribute(call, "slipway.cpi.request")).toEqual({ stringValue: expect.stringMatching(/^cpi-/) });
    for (const inner of [step, call])
      expect([
        inner.startTimeUnixNano >= task.startTimeUnixNano,
        inner.endTimeUnixNano <= task.endTimeUnixNano,
      ]).toEqual([true, true]);

    const ofTask = (number: number) =>
      seen.spans.filter(
        (span) =>
          JSON.stringify(attribute(span, "slipway.task.id")) === JSON.stringify({ intValue: String(number) }),
      );
    expect(ofTask(other)).toMatchObject([{ status: { code: 2 } }]);
    expect(ofTask(other)[0]).not.toHaveProperty("parentSpanId");
    expect(ofTask(unwanted)).toEqual([]);
    expectNoSecrets(JSON.stringify(seen.spans));
  });
});
