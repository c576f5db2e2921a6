import { type Agent, AgentRefused, AgentSilent, type Agents, WrongAgent } from "@slipway/engine/agents/agent";
import { systemRandom } from "@slipway/kernel/random";
import { freshDatabase } from "@slipway/testkit/database";
import { type FakeClock, fakeClock } from "@slipway/testkit/fake-clock";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { beforeEach, describe, expect, it } from "vitest";
import { seedShop, WEB_0, WEB_1 } from "../api/testing/seed.ts";
import { RESURRECTION_PAUSED, setAttribute } from "../store/attributes.ts";
import { saveConfig } from "../store/configs.ts";
import { beginResurrections } from "../store/health.ts";
import type { Db } from "../store/schema.ts";
import { enqueue } from "../tasks/queue.ts";
import type { NewTask } from "../tasks/task.ts";
import type { Alert } from "./alert.ts";
import { HealthMonitor } from "./monitor.ts";
import { healthSettings } from "./settings.ts";
import { seedBank } from "./testing/bank.ts";

sampleTests(1 / 3);

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: Db;
let clock: FakeClock;
let monitor: HealthMonitor;
/** Behavior of the agents of the world, by id. */
let world: Map<
  string,
  "silent" | "stopped" | "distrusts" | "denies" | { jobState?: string; disks?: string[] }
>;
let queued: NewTask[];
let alerts: Alert[];
let errors: unknown[];
/** Set off against the fake clock: what a process that was stopped, or a clock that was set, sees. */
let jump: { monotonic: number; wall: number };
beforeEach(async () => {
  database = await freshDatabase();
  ({ db } = database);
  clock = fakeClock({ start: Date.parse("2026-01-31T12:00:00Z") });
  world = new Map();
  queued = [];
  alerts = [];
  errors = [];
  jump = { monotonic: 0, wall: 0 };
  await seedShop(db);
  await db.updateTable("instances").set({ spec: "{}", update_completed: true }).execute();
  watch();
  return async () => {
    await monitor.stop();
    await database.close();
  };
});

const distrust = () =>
  new WrongAgent("its certificate is not of this Director's authority", {
    cause: Object.assign(new Error("self-signed"), { code: "SELF_SIGNED_CERT_IN_CHAIN" }),
  });

function agentOf(agentId: string): Agent {
  const said = () => {
    const how = world.get(agentId) ?? {};
    if (how === "silent") throw new AgentSilent("it hangs");
    if (how === "stopped") {
      // This process is, while the question is under way: its time is over when it goes on.
      jump.monotonic += 300_000;
      throw new AgentSilent("no answer in time");
    }
    if (how === "distrusts") throw distrust();
    if (how === "denies") throw new AgentRefused("it does not accept this Director's password");
    return how;
  };
  return {
    getState: async () => ({ jobState: said().jobState ?? "running", networks: {}, raw: {} }),
    listDisk: async () => said().disks ?? ["disk-1"],
  } satisfies Partial<Agent> as Partial<Agent> as Agent;
}

function watch(health: Parameters<typeof healthSettings>[0] = {}) {
  monitor = new HealthMonitor({
    db,
    agents: { agent: ({ agentId }) => agentOf(agentId) } as Partial<Agents> as Agents,
    clock: {
      ...clock,
      now: () => clock.now() + jump.wall,
      monotonic: () => clock.monotonic() + jump.monotonic,
    },
    random: systemRandom,
    settings: healthSettings(health),
    tasks: {
      enqueue: async (task) => {
        queued.push(task);
        return await enqueue(db, task);
      },
    },
    sinks: [{ name: "test", send: async (alert) => void alerts.push(alert) }],
    onError: (error) => errors.push(error),
  });
  monitor.start();
}

/** Lets so much time pass; the database answers in its own. Two timers wait between rounds: for one, and to ask agents. */
async function pass(seconds: number) {
  for (let second = 0; second < seconds; second += 1) {
    await clock.advance(1_000);
    if (clock.waiting !== 2) await expect.poll(() => clock.waiting, { interval: 1 }).toBe(2);
  }
}

const healthOf = (uuid = WEB_0) => {
  const found = monitor.snapshot()?.instances.find(({ watched }) => watched.uuid === uuid);
  return { health: found?.verdict.status, action: found?.action?.what };
};
const asked = () =>
  queued.map(({ type, deployment, params }) => ({ type, deployment, ids: params.instances }));
const RESURRECTS = [{ type: "cck_scan_and_fix", deployment: "shop", ids: [WEB_0] }];

/** The tasks in the queue end, and what they were for is as it was. */
const endTasks = (state: "done" | "error" = "done") => db.updateTable("tasks").set({ state }).execute();

describe("watching the fleet", () => {
  it("sees healthy instances, and sends no alert", async () => {
    await pass(120);
    expect(healthOf()).toEqual({ health: "healthy", action: undefined });
    expect(healthOf(WEB_1).health).toBe("detached");
    expect({ queued, alerts, errors }).toEqual({ queued: [], alerts: [], errors: [] });
  });

  it("notices an agent that dies within 90 s, asks for a new VM once, and says so", async () => {
    await pass(60);
    world.set("ag-1", "silent");
    await pass(90);
    expect(asked()).toEqual(RESURRECTS);
    expect(healthOf()).toEqual({ health: "unresponsive", action: "task 1 replaces its VM" });
    await pass(300);
    expect(asked()).toEqual(RESURRECTS);
    expect(alerts.map(({ title }) => title)).toEqual([
      "shop: task 1 replaces VMs",
      `shop: web/${WEB_0} (0) is unresponsive`,
    ]);
    expect(errors).toEqual([]);
  });

  it("asks again when the task did not help, later each time, and forgets about it once all is well", async () => {
    world.set("ag-1", "silent");
    await pass(90);
    await endTasks("error");
    await pass(30);
    expect(healthOf().action).toMatch(/the last try failed; the next is in \d+ s/);
    await pass(50);
    expect(queued).toHaveLength(2);
    await endTasks("error");
    await pass(90);
    expect(queued).toHaveLength(2);
    await pass(60);
    expect(queued).toHaveLength(3);
    await endTasks();
    world.set("ag-1", {});
    await pass(30);
    expect(healthOf()).toEqual({ health: "healthy", action: undefined });
    expect(await db.selectFrom("resurrections").selectAll().execute()).toEqual([]);
    expect(alerts.at(-1)?.title).toBe(`shop: web/${WEB_0} (0) is well again`);
  });

  it("gives a VM to an instance that has lost its own", async () => {
    await db.deleteFrom("vms").execute();
    await pass(50);
    expect(queued).toEqual([]);
    await pass(40);
    expect(asked()).toEqual(RESURRECTS);
  });

  it("goes on with a resurrection that failed half-way, although the new agent answers", async () => {
    await beginResurrections(db, [WEB_0], 7);
    await db.updateTable("instances").set({ update_completed: false }).where("uuid", "=", WEB_0).execute();
    await pass(20);
    expect(healthOf().health).toBe("unfinished");
    await pass(90);
    expect(asked()).toEqual(RESURRECTS);
  });

  it("tells of processes that fail and disks that are not mounted when that lasts, and replaces no VM for it", async () => {
    world.set("ag-1", { jobState: "failing", disks: [] });
    await pass(120);
    expect(healthOf().health).toBe("disk_not_mounted");
    expect(queued).toEqual([]);
    expect(alerts).toMatchObject([{ severity: 2, summary: "its disk disk-1 is not mounted; failing" }]);
  });
});

describe("the health monitor", () => {
  it.each(["distrusts", "denies"] as const)(
    "replaces no VM for its credentials: the agent %s",
    async (how) => {
      world.set("ag-1", how);
      await pass(180);
      expect(healthOf().health).toBe("refused");
      expect(queued).toEqual([]);
      expect(alerts).toHaveLength(1);
    },
  );

  it("replaces no VM after this process was stopped for minutes, again and again, and agents had no chance to answer", async () => {
    await pass(60);
    world.set("ag-1", "stopped");
    await pass(120);
    expect(healthOf().health).toBe("healthy");
    expect({ queued, alerts }).toEqual({ queued: [], alerts: [] });
    world.set("ag-1", "silent");
    await pass(120);
    expect(asked()).toEqual(RESURRECTS);
  });

  it("replaces no VM after a change of the clock", async () => {
    await pass(60);
    jump.wall += 86_400_000;
    await pass(30);
    jump.wall -= 2 * 86_400_000;
    await pass(30);
    expect({ queued, alerts }).toEqual({ queued: [], alerts: [] });
  });

  it("replaces no VM while resurrection is off, and does so once it is on", async () => {
    await setAttribute(db, RESURRECTION_PAUSED, "true");
    world.set("ag-1", "silent");
    await pass(120);
    expect(queued).toEqual([]);
    expect(healthOf().action).toMatch(/update-resurrection on/);
    await setAttribute(db, RESURRECTION_PAUSED, "false");
    await pass(20);
    expect(asked()).toEqual(RESURRECTS);
  });

  it("replaces no VM in a group that a resurrection config forbids", async () => {
    const content = "rules:\n- enabled: false\n  include: {deployments: [shop], instance_groups: [web]}\n";
    await saveConfig(db, { type: "resurrection", name: "default", content });
    world.set("ag-1", "silent");
    await pass(120);
    expect({ queued, action: healthOf().action }).toEqual({
      queued: [],
      action: "nothing: the resurrection config forbids it",
    });
  });

  it("replaces no VM of an instance that is ignored, or whose resurrection is paused", async () => {
    world.set("ag-1", "silent");
    await db.updateTable("instances").set({ ignore: true }).execute();
    await pass(120);
    expect(healthOf().health).toBe("ignored");
    await db.updateTable("instances").set({ ignore: false, resurrection_paused: true }).execute();
    await pass(120);
    expect(healthOf()).toEqual({ health: "unresponsive", action: "nothing: its resurrection is paused" });
    expect(queued).toEqual([]);
  });

  it("replaces no VM while a task has the lock of the deployment", async () => {
    const description = "create deployment";
    const task = await enqueue(db, {
      type: "update_deployment",
      description,
      user: "a",
      deployment: "shop",
      params: {},
    });
    await db
      .insertInto("locks")
      .values({ name: "lock:deployment:shop", task_id: task, owner: "x", expires_at: new Date() })
      .execute();
    world.set("ag-1", "silent");
    await pass(120);
    expect({ queued, alerts, action: healthOf().action }).toEqual({
      queued: [],
      alerts: [],
      action: "waits for task 1 (create deployment)",
    });
    await db.deleteFrom("locks").execute();
    await pass(20);
    expect(asked()).toEqual(RESURRECTS);
  });

  it("replaces no VM when half of the fleet comes back, before the others had a minute for it, too", async () => {
    await seedBank(db, 3);
    await pass(60);
    for (const id of ["bank-0", "bank-1", "bank-2", "ag-1"]) world.set(id, "silent");
    await pass(150);
    for (const id of ["bank-0", "bank-1", "bank-2"]) world.delete(id);
    await pass(45);
    expect({ queued, ...healthOf() }).toEqual({
      queued: [],
      health: "unresponsive",
      action: expect.stringContaining("have a while to be back"),
    });
    await pass(60);
    expect(asked()).toEqual(RESURRECTS);
  });

  it("replaces no VM while half of the fleet is gone, and replaces one that dies afterwards", async () => {
    await seedBank(db, 6);
    await pass(60);
    for (let index = 0; index < 6; index += 1) world.set(`bank-${index}`, "silent");
    world.set("ag-1", "silent");
    await pass(180);
    expect(queued).toEqual([]);
    expect(alerts.filter(({ category }) => category === "deployment_health")).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          severity: 1,
          summary: expect.stringMatching(/of all 7 agents are silent/),
        }),
        expect.objectContaining({ severity: 1, source: "bank" }),
      ]),
    );
    world.clear();
    await pass(60);
    world.set("ag-1", "silent");
    await pass(90);
    expect(asked()).toEqual(RESURRECTS);
  });
});
