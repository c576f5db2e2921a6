import { agentClient } from "@slipway/engine/agents/agent-client";
import { NatsBus } from "@slipway/engine/agents/nats/bus";
import { natsTransport } from "@slipway/engine/agents/nats/nats-transport";
import { natsUsers } from "@slipway/engine/agents/nats/users";
import { systemClock } from "@slipway/kernel/clock";
import { dial, readNatsUrl } from "@slipway/kernel/nats/dial";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId } from "@slipway/protocol/ids";
import { AGENT, DIRECTOR } from "@slipway/testkit/certificates";
import { natsServerAvailable, TestNatsServer } from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { SlowProxy } from "@slipway/testkit/slow-proxy";
import { describe, expect, it, onTestFinished } from "vitest";
import { heartbeatOf } from "./testing/heartbeat.ts";
import { AGENT_ID, IN_VAIN_MS, natsWorld } from "./testing/nats-world.ts";

const here = needs("nats-server", natsServerAvailable(), "nats-server is not installed");
const ID = AGENT_ID as AgentId;

sampleTests(1 / 3);

/** Users with the permissions that the Director writes. */
const users = Object.fromEntries(
  natsUsers([{ agentId: ID, lasting: true }]).map(({ user, permissions }) => [
    user.replace(/^.*CN=/, ""),
    permissions,
  ]),
);

/** A server, the Director's connection to it, and a monitor that hears and asks by it. */
async function opened() {
  const server = await TestNatsServer.start({ users, more: "max_pending: 2097152" });
  const proxy = await SlowProxy.to(server.port);
  const tools = { clock: systemClock, warn: () => undefined };
  const bus = new NatsBus({
    ...{ urls: [proxy.url], credentials: () => Promise.resolve(DIRECTOR), random: systemRandom },
    ...tools,
  });
  onTestFinished(() => bus.close());
  const made = await natsWorld(bus, () => agentClient(natsTransport(ID, { bus }), tools));
  const connected = (want: boolean) => expect.poll(() => bus.connected, { timeout: 60_000 }).toBe(want);
  await connected(true);
  return { server, proxy, bus, connected, ...made };
}

/** Connects an agent that answers, and sends what the test says; messages have arrived when that is over. */
async function agentOn({ server, world }: Awaited<ReturnType<typeof opened>>) {
  const connection = await dial(readNatsUrl(server.url), AGENT, AGENT_ID, systemClock);
  onTestFinished(() => connection.close());
  // It is asked when it says something new, and stands by its word.
  let jobState = "running";
  const answers: Readonly<Record<string, () => unknown>> = {
    get_state: () => ({ job_state: jobState, networks: {}, processes: [], vitals: heartbeatOf().vitals }),
    list_disk: () => ["disk-1"],
  };
  connection.subscribe(`agent.${AGENT_ID}`, {
    callback: (_, message) => {
      const { method, reply_to } = JSON.parse(message.string()) as { method: string; reply_to: string };
      connection.publish(reply_to, JSON.stringify({ value: answers[method]?.() }));
    },
  });
  const says = async (topic: string, what: unknown) => {
    const before = world.delivered;
    connection.publish(`hm.agent.${topic}.${AGENT_ID}`, JSON.stringify(what));
    await expect.poll(() => world.delivered, { timeout: 60_000, interval: 1 }).toBe(before + 1);
  };
  await connection.flush();
  // It answers, however busy the machine is.
  world.answerMs = 60_000;
  const beats = async (state: string) => {
    jobState = state;
    await says("heartbeat", heartbeatOf(state));
  };
  const everyHalfMinute = async (second: number) => {
    if (second % 30 === 0) await beats("running");
  };
  return { connection, says, beats, everyHalfMinute };
}

describe.runIf(here)("a monitor on a real NATS server", () => {
  it("hears an agent instead of asking it, and notices within 90 s that it has gone", async () => {
    const made = await opened();
    const { world, pass, health, queued, alerts } = made;
    const { connection, says, beats, everyHalfMinute } = await agentOn(made);
    await pass(120, everyHalfMinute);
    expect({ asked: world.asked, ...health() }).toEqual({ asked: 1, status: "healthy", problems: [] });
    const alert = { id: "a-1", severity: 1, title: "web - does not exist", summary: "", created_at: 7 };
    await says("alert", alert);
    await says("shutdown", null);
    await beats("failing");
    await pass(2);
    expect(health().status).toBe("failing");
    expect(alerts).toEqual([expect.objectContaining({ ...alert, deployment: "shop" })]);
    world.answerMs = IN_VAIN_MS;
    await connection.close();
    await pass(90);
    expect(health()).toEqual({
      status: "unresponsive",
      problems: [expect.stringContaining("no agent of this id is connected to NATS")],
    });
    expect(queued).toHaveLength(1);
  });

  it("blames no agent for a server that is away, and hears the agent again afterwards", async () => {
    const made = await opened();
    const { server, world, connected, pass, health, queued } = made;
    const before = await agentOn(made);
    await pass(60, before.everyHalfMinute);
    world.answerMs = IN_VAIN_MS;
    await server.kill();
    await connected(false);
    await pass(200);
    expect(health().status).toBe("unknown");
    await server.run();
    await connected(true);
    await pass(30);
    const after = await agentOn(made);
    await pass(90, after.everyHalfMinute);
    expect(health()).toEqual({ status: "healthy", problems: [] });
    expect(queued).toEqual([]);
  });

  it("blames no agent for a server that is only slow: heartbeats come late, questions are not answered in time", async () => {
    const made = await opened();
    const { proxy, world, pass, health, queued, alerts } = made;
    const { everyHalfMinute } = await agentOn(made);
    world.answerMs = IN_VAIN_MS;
    proxy.delayMs = IN_VAIN_MS + 100;
    await pass(100, everyHalfMinute);
    expect(world.asked).toBeGreaterThan(1);
    expect({ ...health(), queued, alerts }).toEqual({
      ...{ status: "healthy", problems: [] },
      ...{ queued: [], alerts: [] },
    });
  });

  it("blames no agent when it did not keep up itself, and the server cut it off", async () => {
    const made = await opened();
    const { server, proxy, bus, world, pass, health, queued, alerts } = made;
    const { connection, everyHalfMinute } = await agentOn(made);
    await pass(60, everyHalfMinute);
    proxy.stall();
    const cut = server.cutOff();
    const large = JSON.stringify({ large: "x".repeat(900_000) });
    for (let nth = 0; nth < 40; nth += 1) connection.publish(`hm.agent.heartbeat.${AGENT_ID}`, large);
    await cut;
    proxy.flow();
    await expect.poll(() => bus.connections, { timeout: 60_000 }).toBe(2);
    // What had come through before.
    await expect.poll(() => connection.flush().then(() => world.open)).toBe(0);
    await pass(120, everyHalfMinute);
    expect({ ...health(), queued, alerts }).toEqual({
      ...{ status: "healthy", problems: [] },
      ...{ queued: [], alerts: [] },
    });
  });
});
