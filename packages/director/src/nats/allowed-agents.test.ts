import type { GroupName, InstanceUuid } from "@slipway/engine/model/names";
import type { AgentId, VmCid } from "@slipway/protocol/ids";
import { freshDatabase } from "@slipway/testkit/database";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { expect, it, onTestFinished } from "vitest";
import { seedShop, WEB_0 } from "../api/testing/seed.ts";
import { seedBank } from "../health/testing/bank.ts";
import { behind } from "../store/nats-authorities.ts";
import { saveScan } from "../store/problems.ts";
import type { Db } from "../store/schema.ts";
import { Sealed } from "../store/sealed.ts";
import { AllowedAgents } from "./allowed-agents.ts";

it("agents that come while a server reads its configuration are announced together, the first at once", async () => {
  const { db, close } = await freshDatabase();
  onTestFinished(close);
  await seedShop(db);
  await seedBank(db, 100);
  await db.updateTable("vms").set({ agent_url: "nats://10.0.0.6:4222" }).execute();
  const clock = fakeClock({ start: Date.parse("2026-01-31T12:00:00Z") });
  const told: string[] = [];
  const allowed = new AllowedAgents({
    ...{ db, clock },
    changed: async (agents) =>
      void told.push(
        agents
          .map(({ agentId }) => agentId)
          .filter((id) => id.startsWith("new"))
          .join(),
      ),
    onError: (error) => {
      throw error;
    },
  });
  expect(await allowed.open()).toHaveLength(101);
  const comes = (nth: number) =>
    db
      .updateTable("vms")
      .set({ agent_id: `new-${nth}` })
      .where("cid", "=", `vm-bank-${nth}`)
      .execute();
  await clock.advance(1_000);
  await comes(1);
  await allowed.refresh();
  expect(told).toEqual(["new-1"]);
  await comes(2);
  const second = allowed.refresh();
  await expect.poll(() => clock.waiting).toBe(1);
  await comes(3);
  const third = allowed.refresh();
  expect(told).toHaveLength(1);
  await clock.advance(21);
  await Promise.all([second, third]);
  expect(told).toEqual(["new-1", "new-1,new-2,new-3"]);
  // Agents that wait when the Director stops are not announced any more.
  await comes(4);
  const last = allowed.refresh();
  await expect.poll(() => clock.waiting).toBe(1);
  await allowed.stop();
  await last;
  expect(told).toHaveLength(2);
});

it("an agent whose VM no record names may take part while its adoption is undecided", async () => {
  const { db, close } = await freshDatabase();
  onTestFinished(close);
  await seedShop(db);
  const clock = fakeClock();
  const allowed = new AllowedAgents({
    ...{ db, clock },
    changed: async () => undefined,
    onError: (error) => {
      throw error;
    },
  });
  expect(await allowed.open()).toEqual([]);
  const { id } = await db.selectFrom("deployments").select("id").executeTakeFirstOrThrow();
  const of = { instance: WEB_0 as InstanceUuid, group: "web" as GroupName, index: 0, vm: "vm-9" as VmCid };
  const found = { ...of, type: "unrecorded_vm", disk: null, size: null, mountedOn: [] } as const;
  await saveScan(db, id, [{ ...found, agent: "agent-9" as AgentId }]);
  await allowed.refresh();
  expect(allowed.has("agent-9")).toBe(true);
  await saveScan(db, id, []);
  await clock.advance(1_000);
  await allowed.refresh();
  expect(allowed.has("agent-9")).toBe(false);
});

/** A database that lets something happen between its first answer and its second query. */
const interrupted = (db: Db, between: () => Promise<void>): Db => {
  let answers = 0;
  return db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      answers += 1;
      if (answers === 1) await between();
      return result;
    },
  });
};

/** A VM is being made; `record` closes its intent and records it, at once. */
async function vmBeingMade(db: Db): Promise<{ readonly record: () => Promise<void> }> {
  await seedShop(db);
  const made = await db.selectFrom("vms").selectAll().executeTakeFirstOrThrow();
  await db.deleteFrom("vms").where("id", "=", made.id).execute();
  await db
    .insertInto("intents")
    .values({
      ...{ task_id: 7, number: 1, scope: "shop", instance_uuid: WEB_0, step: "create_vm", version: 1 },
      intent_sealed: new Sealed({ transport: "nats", agentId: "agent-new" }) as never,
    })
    .execute();
  const record = () =>
    db.transaction().execute(async (tx) => {
      await tx.deleteFrom("intents").execute();
      const { id: _, ...row } = made;
      const documents = {
        env_sealed: new Sealed({}) as never,
        ...{ cloud_properties: "{}", networks: "{}", disks: "{}" },
      };
      await tx
        .insertInto("vms")
        .values({ ...row, ...documents, agent_id: "agent-new", agent_url: "nats://10.0.0.6:4222" })
        .execute();
    });
  return { record };
}

it("keeps an agent whose VM is recorded while the list is read", async () => {
  const { db, close } = await freshDatabase();
  onTestFinished(close);
  const { record } = await vmBeingMade(db);
  const allowed = new AllowedAgents({
    ...{ db: interrupted(db, record), clock: fakeClock() },
    changed: async () => undefined,
    onError: (error) => {
      throw error;
    },
  });
  expect((await allowed.open()).map(({ agentId }) => agentId)).toEqual(["agent-new"]);
  expect((await allowed.open()).map(({ agentId }) => agentId)).toEqual(["agent-new"]);
});

it("keeps the old NATS authority for an agent whose VM is recorded while the agents are counted", async () => {
  const { db, close } = await freshDatabase();
  onTestFinished(close);
  const { record } = await vmBeingMade(db);
  const { agents, making } = await behind(interrupted(db, record), "new authority");
  expect(agents.length + making).toBeGreaterThan(0);
});
