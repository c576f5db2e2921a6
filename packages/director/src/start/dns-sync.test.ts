import { type Agent, AgentSilent, type Agents } from "@slipway/engine/agents/agent";
import { freshDatabase } from "@slipway/testkit/database";
import { type FakeClock, fakeClock } from "@slipway/testkit/fake-clock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { seedShop } from "../api/testing/seed.ts";
import { agentsBehind, latestDns } from "../store/dns.ts";
import type { Db } from "../store/schema.ts";
import { DnsSync, localDnsOf } from "./background-jobs.ts";

const TEN_SECONDS = 10_000;
const DNS = localDnsOf({ local_dns: { enabled: true } });

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: Db;
let clock: FakeClock;
beforeEach(async () => {
  database = await freshDatabase();
  ({ db } = database);
  clock = fakeClock({ start: 0 });
  await seedShop(db);
  const networks = JSON.stringify({ a: { type: "manual", ip: "10.0.0.2" } });
  await db.updateTable("vms").set({ ready: true, networks }).execute();
});
afterEach(() => database.close());

/** Agents that take records as long as they answer. */
function keeping() {
  const world = { silent: false, taken: [] as number[], sent: [] as string[] };
  const errors: unknown[] = [];
  const agent = {
    putBlob: async (_, content) => {
      if (world.silent) throw new AgentSilent("it hangs");
      if (content instanceof Uint8Array) world.sent.push(Buffer.from(content).toString());
    },
    syncDns: async ({ version }) => {
      world.taken.push(version);
    },
  } satisfies Partial<Agent> as Partial<Agent> as Agent;
  const agents = { agent: () => agent } as Partial<Agents> as Agents;
  const dnsSync = new DnsSync({ db, agents, dns: DNS, clock, onError: (error) => errors.push(error) });
  dnsSync.start();
  const round = async () => {
    await clock.advance(TEN_SECONDS);
    await expect.poll(() => clock.waiting).toBe(1);
  };
  return { world, errors, dnsSync, round };
}

describe("the dnsSync of names", () => {
  it("sees at first that the records are of what is there, and that all have them", async () => {
    const { world, errors, round } = keeping();
    await round();
    const latest = await latestDns(db);
    expect(world.taken).toEqual([latest?.version]);
    expect(world.sent[0]).toContain(`"version":${latest?.version}`);
    expect(world.sent[0]).toContain("10.0.0.2");
    await round();
    expect(world.taken).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  it("asks an agent again that did not answer", async () => {
    const { world, errors, round } = keeping();
    world.silent = true;
    await round();
    expect(world.taken).toEqual([]);
    world.silent = false;
    await round();
    expect(world.taken).toHaveLength(1);
    const { version = 0 } = (await latestDns(db)) ?? {};
    expect(await agentsBehind(db, version)).toEqual([]);
    expect(errors).toEqual([]);
  });

  it("looks every five minutes for changes that were not announced", async () => {
    const { world, round } = keeping();
    await round();
    const networks = JSON.stringify({ a: { type: "manual", ip: "10.0.0.3" } });
    await db.updateTable("vms").set({ networks }).execute();
    for (let times = 0; times < 29; times += 1) await round();
    expect(world.taken).toHaveLength(1);
    await round();
    expect(world.taken).toHaveLength(2);
    expect(world.sent[1]).toContain("10.0.0.3");
  });

  it("does nothing more once it is stopped", async () => {
    const { world, dnsSync } = keeping();
    await dnsSync.stop();
    await clock.advance(10 * TEN_SECONDS);
    expect([world.taken, clock.waiting]).toEqual([[], 0]);
  });
});
