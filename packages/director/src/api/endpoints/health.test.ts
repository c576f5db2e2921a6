import type { GroupName, InstanceUuid } from "@slipway/engine/model/names";
import type { AgentId } from "@slipway/protocol/ids";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { healthSettings } from "../../health/settings.ts";
import type { HealthSnapshot, InstanceHealth } from "../../health/snapshot.ts";
import { readPrometheus } from "../../metrics/testing/prometheus.ts";
import { type Harness, startHarness } from "../testing/harness.ts";
import { seedShop, WEB_0 } from "../testing/seed.ts";

const AT = Date.parse("2026-01-31T12:00:00.123Z");

const DEAD: InstanceHealth = {
  watched: {
    deployment: "shop",
    uuid: WEB_0 as InstanceUuid,
    group: "web" as GroupName,
    index: 0,
    state: "started",
    ignore: false,
    errand: false,
    paused: false,
    updateCompleted: true,
    deployed: true,
    vm: {
      cid: "vm-1",
      agentId: "ag-1" as AgentId,
      agentUrl: "https://10.0.0.2:6868",
      certificateUntil: AT,
      disk: undefined,
    },
    resurrection: undefined,
  },
  verdict: {
    status: "unresponsive",
    findings: [{ status: "unresponsive", what: "nobody takes the connection" }],
    since: AT,
    toHeal: true,
    suspect: true,
  },
  since: AT,
  known: {
    watchedSince: 0,
    watchedAt: AT,
    answered: {
      awake: 0,
      at: AT,
      report: {
        jobState: "running",
        processes: [{ name: "nginx", state: "running" }],
        mounted: true,
        readOnly: false,
        vitals: { cpu: 12.5, load: 0.4, memory: 8, disk: { system: 41 } },
      },
    },
  },
  action: { what: "task 7 replaces its VM", task: 7 },
};

const SNAPSHOT: HealthSnapshot = {
  startedAt: AT,
  at: AT,
  settings: healthSettings(),
  paused: false,
  held: undefined,
  meltdowns: new Map([['a "b"\\c', "why"]]),
  heard: undefined,
  upkeep: [{ what: "another authority takes over on NATS: 1 agent waits", who: ["web/1 of shop"] }],
  resurrections: 3,
  instances: [DEAD, { ...DEAD, watched: { ...DEAD.watched, deployment: "bank" }, action: undefined }],
};

let api: Harness;
let snapshot: HealthSnapshot | undefined = SNAPSHOT;
beforeAll(async () => {
  api = await startHarness({ health: { snapshot: () => snapshot } });
  await seedShop(api.db);
});
afterAll(() => api.close());

describe("GET /health", () => {
  it("tells who may read what is wrong, since when, and what is being done", async () => {
    const { status, json } = await api.get("/health?deployment=shop", "reader");
    expect(status).toBe(200);
    expect(json).toMatchObject({
      enabled: true,
      interval_s: 30,
      unresponsive_after_s: 60,
      resurrection: { enabled: true, held: null },
      instances: [
        {
          id: WEB_0,
          health: "unresponsive",
          since: "2026-01-31T12:00:00Z",
          problems: ["nobody takes the connection"],
          action: "task 7 replaces its VM",
          task: 7,
          last_contact: "2026-01-31T12:00:00Z",
          certificate_until: "2026-01-31T12:00:00Z",
        },
      ],
    });
    expect(await api.get("/health")).toMatchObject({ json: { instances: [{}, {}] } });
  });

  it("shows processes and vitals with `full`, as the agent last reported them", async () => {
    const { json } = await api.get("/health?deployment=shop&full=true", "reader");
    const said = {
      job_state: "running",
      processes: [{ name: "nginx", state: "running" }],
      vitals: { cpu: 12.5, load: 0.4, memory: 8, disk: { system: 41 } },
    };
    expect(json).toMatchObject({ instances: [said] });
    expect((await api.get("/health?deployment=shop")).body).not.toContain("nginx");
  });

  it("lists pending upkeep and its instances; `/info` lists it for all callers, without instances", async () => {
    expect(await api.get("/health", "reader")).toMatchObject({
      json: { upkeep: ["another authority takes over on NATS: 1 agent waits: web/1 of shop"] },
    });
    expect(await api.get("/info", "")).toMatchObject({
      json: { slipway: { upkeep: ["another authority takes over on NATS: 1 agent waits"] } },
    });
  });

  it("is 70000 for a deployment that does not exist, and no news before the first look", async () => {
    expect(await api.get("/health?deployment=none")).toMatchObject({ status: 404, json: { code: 70000 } });
    snapshot = undefined;
    expect(await api.get("/health")).toMatchObject({ json: { enabled: true, at: null, instances: [] } });
    expect((await api.get("/metrics")).body).toContain("slipway_health_watched 0\n");
    snapshot = SNAPSHOT;
  });
});

describe("GET /metrics", () => {
  it("is what Prometheus reads", async () => {
    const { headers, body } = await api.get("/metrics", "reader");
    expect(headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
    const lines = body.split("\n");
    expect(readPrometheus(body).size).toBeGreaterThan(5);
    const shop = `{deployment="shop",instance_group="web",index="0",id="${WEB_0}"`;
    expect(lines).toEqual(
      expect.arrayContaining([
        "slipway_health_watched 1",
        'slipway_health_instances{deployment="shop",health="unresponsive"} 1',
        'slipway_health_instances{deployment="shop",health="healthy"} 0',
        "slipway_health_resurrections_total 3",
        'slipway_health_meltdown{deployment="a \\"b\\"\\\\c"} 1',
        `slipway_health_instance_healthy${shop}} 0`,
        `slipway_health_memory_percent${shop}} 8`,
        `slipway_health_disk_percent${shop},disk="system"} 41`,
      ]),
    );
  });
});

describe("upstream's health monitor", () => {
  it("is answered for deployments, instances, configs and tasks", async () => {
    const all = await api.get(
      "/deployments?exclude_configs=true&exclude_releases=true&exclude_stemcells=true",
    );
    expect(all.json).toEqual([{ name: "shop", locked: false, teams: [] }]);
    const { json } = await api.get("/deployments/shop/instances");
    expect(json).toMatchObject([
      { id: WEB_0, job: "web", index: 0, agent_id: "ag-1", cid: "vm-1", expects_vm: true },
      { agent_id: null, cid: null, expects_vm: false },
    ]);
    expect((await api.get("/configs?type=resurrection&latest=true")).json).toEqual([]);
    expect((await api.get("/tasks?deployment=shop&state=queued,processing&verbose=2")).json).toEqual([]);
  });

  /** Returns an alert as upstream's health monitor sends it: the time is a text. */
  const alert = (fields: object) =>
    JSON.stringify({ timestamp: "1731700000", action: "create", object_type: "alert", ...fields });

  it("its alerts become events", async () => {
    const body = alert({
      object_name: "f5fa",
      deployment: "shop",
      instance: `web/${WEB_0}`,
      context: { message: "gone" },
    });
    const type = "application/json";
    expect((await api.ask("POST", "/events", { type, body, user: "reader" })).status).toBe(401);
    expect((await api.ask("POST", "/events", { type, body })).status).toBe(200);
    expect((await api.get("/events?object_type=alert")).json).toMatchObject([
      {
        timestamp: 1731700000,
        action: "create",
        object_name: "f5fa",
        user: "admin",
        deployment: "shop",
        context: { message: "gone" },
      },
    ]);
  });

  it("an alert of no instance becomes one, too", async () => {
    const body = alert({
      timestamp: "1731700001",
      object_name: "f5fb",
      deployment: null,
      instance: null,
      context: { message: "a stranger" },
    });
    expect((await api.ask("POST", "/events", { type: "application/json", body })).status).toBe(200);
  });

  it.each([
    ["without a name", { timestamp: "1731700000" }, /object_name/],
    ["of a time that is none", { object_name: "f5fc", timestamp: "soon" }, /'timestamp'.*a time, as 2026/],
  ])("an alert %s is refused", async (_, fields, said) => {
    const reply = await api.ask("POST", "/events", { type: "application/json", body: alert(fields) });
    expect(reply.status).toBe(400);
    expect(JSON.stringify(reply.json)).toMatch(said);
  });

  it("an alert that says its time as people do, or not at all, has that time, or now", async () => {
    for (const timestamp of ["2026-01-31 12:00:00 UTC", 1731700002, null])
      await api.ask("POST", "/events", {
        type: "application/json",
        body: alert({ object_name: `at ${timestamp}`, timestamp }),
      });
    const { json } = await api.get("/events?object_type=alert");
    const times = new Map(
      (json as { object_name: string; timestamp: number }[]).map((one) => [one.object_name, one.timestamp]),
    );
    expect(times.get("at 2026-01-31 12:00:00 UTC")).toBe(1769860800);
    expect(times.get("at 1731700002")).toBe(1731700002);
    expect(times.get("at null")).toBeGreaterThan(1769860800);
  });

  it("starts a task to replace VMs, by group and id, and finds it by its description", async () => {
    const asked = await api.ask("PUT", "/deployments/shop/scan_and_fix", {
      type: "application/json",
      body: JSON.stringify({ jobs: { web: [WEB_0] } }),
    });
    expect(asked.status).toBe(302);
    expect(api.queued.at(-1)).toMatchObject({ description: "scan and fix", deployment: "shop" });
    // As a form spells the list.
    expect((await api.get("/tasks?deployment=shop&state=queued%2Cprocessing&verbose=2")).status).toBe(200);
  });
});

describe("upstream's nats-sync", () => {
  it("is answered: who logs in how, deployments, and VMs with their agents and whether these have lasting certificates", async () => {
    expect(await api.get("/info", "")).toMatchObject({
      status: 200,
      json: { user_authentication: { type: "basic" } },
    });
    const { json: deployments } = await api.get("/deployments", "reader");
    expect(deployments).toMatchObject([{ name: "shop" }]);
    const vms = async () => (await api.get("/deployments/shop/vms", "reader")).json;
    expect(await vms()).toMatchObject([{ agent_id: "ag-1", permanent_nats_credentials: false }]);
    const before = await api.db.selectFrom("vms").select(["agent_url", "ready"]).executeTakeFirstOrThrow();
    await api.db.updateTable("vms").set({ agent_url: "nats://10.0.0.6:4222", ready: true }).execute();
    expect(await vms()).toMatchObject([{ agent_id: "ag-1", permanent_nats_credentials: true }]);
    await api.db.updateTable("vms").set({ ready: false }).execute();
    expect(await vms()).toMatchObject([{ permanent_nats_credentials: false }]);
    await api.db.updateTable("vms").set(before).execute();
  });
});

describe("resurrection of one instance", () => {
  it("is paused and taken up again", async () => {
    const pause = (paused: boolean) =>
      api.ask("PUT", "/deployments/shop/jobs/web/0/resurrection", {
        type: "application/json",
        body: JSON.stringify({ resurrection_paused: paused }),
      });
    const recorded = () =>
      api.db.selectFrom("instances").select("resurrection_paused as is").where("uuid", "=", WEB_0).execute();
    expect((await pause(true)).status).toBe(200);
    expect(await recorded()).toEqual([{ is: true }]);
    expect((await pause(false)).status).toBe(200);
    expect(await recorded()).toEqual([{ is: false }]);
  });
});
