import { type Agent, AgentSilent, type Agents } from "@slipway/engine/agents/agent";
import { systemRandom } from "@slipway/kernel/random";
import { freshDatabase } from "@slipway/testkit/database";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { expect, onTestFinished } from "vitest";
import { seedShop, WEB_0 } from "../../api/testing/seed.ts";
import type { Db } from "../../store/schema.ts";
import { enqueue } from "../../tasks/queue.ts";
import type { NewTask } from "../../tasks/task.ts";
import type { Alert } from "../alert.ts";
import type { Channel } from "../hearing.ts";
import { HealthMonitor } from "../monitor.ts";
import { healthSettings } from "../settings.ts";
import { heartbeatOf } from "./heartbeat.ts";

export const AGENT_ID = "agent-1";
/** Deadline of a question to a real agent that is not there, or too slow. */
export const IN_VAIN_MS = 300;

/** Answer of the agent; undefined if it does not answer. */
export type Says = { readonly jobState?: string; readonly disks?: readonly string[] } | undefined;

/**
 * web/0 of shop with a disk, its agent on NATS, and a monitor whose time is the test's. `ask` asks a real agent; without it
 * there is one that answers as `world.says` has it.
 */
export async function natsWorld(
  channel: Channel,
  ask?: (agentId: string) => Pick<Agent, "getState" | "listDisk">,
  /** Further instances. */
  more: (db: Db) => Promise<void> = () => Promise.resolve(),
) {
  const database = await freshDatabase();
  const { db } = database;
  const clock = fakeClock({ start: Date.parse("2026-01-31T12:00:00Z") });
  await seedShop(db);
  await db.updateTable("instances").set({ spec: "{}", update_completed: true }).execute();
  await db.updateTable("vms").set({ agent_id: AGENT_ID, agent_url: "nats://127.0.0.1:4222" }).execute();
  await more(db);
  const world = { says: {} as Says, asked: 0, open: 0, delivered: 0, answerMs: IN_VAIN_MS };
  const queued: NewTask[] = [];
  const alerts: Alert[] = [];
  const errors: string[] = [];
  const said = () => {
    if (world.says === undefined) throw new AgentSilent("it hangs");
    return world.says;
  };
  const fake = {
    getState: async () => {
      const processes = [{ name: "nginx", state: said().jobState ?? "running" }];
      const vitals = heartbeatOf().vitals;
      return { jobState: said().jobState ?? "running", networks: {}, raw: { processes, vitals } };
    },
    listDisk: async () => [...(said().disks ?? ["disk-1"])],
  };
  const counted = async <T>(work: Promise<T>): Promise<T> => {
    world.open += 1;
    return await work.finally(() => {
      world.open -= 1;
    });
  };
  const agentOf = (agentId: string) => {
    const agent = ask?.(agentId) ?? fake;
    return {
      getState: (full: boolean) => {
        world.asked += 1;
        return counted(agent.getState(full, { timeoutMs: world.answerMs, once: true }));
      },
      listDisk: () => counted(agent.listDisk({ timeoutMs: world.answerMs })),
    } satisfies Partial<Agent> as Partial<Agent> as Agent;
  };
  const monitor = new HealthMonitor({
    db,
    agents: { agent: ({ agentId }) => agentOf(agentId) } as Partial<Agents> as Agents,
    channel: {
      get connected() {
        return channel.connected;
      },
      get connections() {
        return channel.connections;
      },
      listen: (subjects, take) =>
        channel.listen(subjects, (subject, data) => {
          take(subject, data);
          world.delivered += 1;
        }),
    },
    clock,
    // The first question comes after the first heartbeat, and pauses are neither short nor long.
    random: { ...systemRandom, fraction: () => 0.5 },
    settings: healthSettings(),
    tasks: {
      enqueue: async (task) => {
        queued.push(task);
        return await enqueue(db, task);
      },
    },
    sinks: [{ name: "test", send: async (alert) => void alerts.push(alert) }],
    onError: (error) => errors.push(String(error)),
  });
  onTestFinished(async () => {
    await monitor.stop();
    await database.close();
  });
  monitor.start();

  /** Lets so much time pass; database and agents answer in their own. Two timers wait between rounds. */
  const pass = async (seconds: number, each: (second: number) => Promise<void> | void = () => undefined) => {
    for (let second = 0; second < seconds; second += 1) {
      await each(second);
      await clock.advance(1_000);
      await expect
        .poll(() => ({ timers: clock.waiting, open: world.open }), { interval: 1, timeout: 60_000 })
        .toEqual({ timers: 2, open: 0 });
    }
  };
  const health = () => {
    const found = monitor.snapshot()?.instances.find(({ watched }) => watched.uuid === WEB_0);
    return {
      status: found?.verdict.status,
      problems: found?.verdict.findings.map(({ what }) => what),
    };
  };
  return { db, monitor, world, queued, alerts, errors, pass, health };
}
