import { systemClock } from "@slipway/kernel/clock";
import { dial, readNatsUrl } from "@slipway/kernel/nats/dial";
import { AGENT, HEALTH_MONITOR } from "@slipway/testkit/certificates";
import * as nats from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { SlowProxy } from "@slipway/testkit/slow-proxy";
import { describe, expect, it, onTestFinished } from "vitest";
import { AgentSilent } from "../agent.ts";
import { directorOn, fakeAgentOn } from "../testing/bus.ts";

const here = needs("nats-server", nats.natsServerAvailable(), "nats-server is not installed");
const start = nats.TestNatsServer.start;

const HEARTBEATS = "hm.agent.heartbeat.*";
const BEAT = `hm.agent.heartbeat.${nats.AGENT_ID}`;
const ALERTS = "hm.director.alert";
/** Users as the Director writes them for its own server. */
const users = {
  ...nats.healthMonitor,
  ...nats.agent,
  "default.director.bosh-internal": {
    publish: ["agent.*", ALERTS],
    subscribe: ["director.>", HEARTBEATS],
  },
};
const STATE = { job_state: "running", networks: {} };
const quick = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 20), signal),
};

async function clientOn(server: nats.TestNatsServer, credentials = AGENT) {
  const connection = await dial(readNatsUrl(server.url), credentials, "test", systemClock);
  onTestFinished(() => connection.close());
  return connection;
}

/** Says it again and again until it is heard: a subscription is there at some moment. */
const beatsUntil = async (connection: Awaited<ReturnType<typeof clientOn>>, heard: () => boolean) =>
  await expect
    .poll(
      () => {
        connection.publish(BEAT, "{}");
        return heard();
      },
      { timeout: 60_000 },
    )
    .toBe(true);

sampleTests(1 / 3);

describe.runIf(here)("the Director's connection to NATS", () => {
  it("hears what agents say by themselves, also after the server was restarted, and says that there was another", async () => {
    const server = await start({ users });
    const { bus } = directorOn(server, quick);
    let heard: string[] = [];
    bus.listen(
      [HEARTBEATS],
      (subject, data) => void heard.push(`${subject} ${Buffer.from(data).toString()}`),
    );
    await expect.poll(() => bus.connected).toBe(true);
    expect(bus.connections).toBe(1);
    await beatsUntil(await clientOn(server), () => heard.length > 0);
    expect(heard[0]).toBe(`${BEAT} {}`);
    await server.kill();
    await expect.poll(() => bus.connected).toBe(false);
    await server.run();
    heard = [];
    await beatsUntil(await clientOn(server), () => heard.length > 0);
    expect(bus.connections).toBe(2);
  });

  it("warns and still carries messages when NATS does not let the Director subscribe", async () => {
    const server = await start();
    const { bus, agent, warnings } = directorOn(server);
    bus.listen([HEARTBEATS], () => undefined);
    await fakeAgentOn(server, (_, answer) => answer({ value: "pong" }));
    await expect
      .poll(() => warnings.join("\n"))
      .toContain(`does not let the Director listen to ${HEARTBEATS}`);
    await agent.ping();
    expect(bus.connections).toBe(1);
  });

  it("publishes to all subscribers once connected, without making the caller wait", async () => {
    // It does not know the Director yet.
    const server = await start({ users: nats.healthMonitor });
    const { bus } = directorOn(server, quick);
    for (let nth = 0; nth < 150; nth += 1) bus.publish(ALERTS, String(nth));
    const monitor = await clientOn(server, HEALTH_MONITOR);
    const heard: string[] = [];
    monitor.subscribe(ALERTS, { callback: (_, message) => void heard.push(message.string()) });
    await monitor.flush();
    await server.reload(users);
    await expect.poll(() => heard.length, { timeout: 60_000 }).toBe(100);
    expect([heard[0], heard.at(-1)]).toEqual(["50", "149"]);
    bus.publish(ALERTS, "x".repeat(2 << 20));
    bus.publish(ALERTS, "after");
    await expect.poll(() => heard.at(-1), { timeout: 60_000 }).toBe("after");
  });

  it("reconnects to a server that hangs instead of blaming the agent for its silence", async () => {
    const server = await start({ users });
    await fakeAgentOn(server, (_, answer) => answer({ value: "pong" }));
    // The library's own pings find it out as well, in about a minute.
    const hasty = {
      ...systemClock,
      after: (ms: number, work: () => void) => systemClock.after(Math.min(ms, 500), work),
    };
    const { bus, agent } = directorOn(server, hasty);
    await agent.ping();
    await server.freeze();
    onTestFinished(() => server.thaw());
    await expect(agent.getState(true, { timeoutMs: 500 })).rejects.toThrow(AgentSilent);
    await expect.poll(() => bus.connected, { timeout: 15_000 }).toBe(false);
  });

  it("reconnects after the server cut off a slow Director, and still gets messages and pending answers", async () => {
    const server = await start({ users, more: "max_pending: 2097152" });
    const proxy = await SlowProxy.to(server.port);
    const { connection } = await fakeAgentOn(server, (_, answer) => answer({ value: STATE }));
    const { bus, agent, warnings } = directorOn(proxy, quick);
    let heard = 0;
    bus.listen([HEARTBEATS], () => {
      heard += 1;
    });
    await agent.getState(true);
    proxy.stall();
    const state = agent.getState(true);
    // More than all the buffers between them.
    const large = JSON.stringify({ large: "x".repeat(900_000) });
    const cut = server.cutOff();
    for (let nth = 0; nth < 40; nth += 1) connection.publish(BEAT, large);
    await cut;
    proxy.flow();
    expect((await state).jobState).toBe("running");
    expect(bus.connections).toBe(2);
    expect(warnings.join()).toContain("was lost; it is made again");
    heard = 0;
    await beatsUntil(connection, () => heard > 0);
  });

  it("is not given up when only the agent is silent", async () => {
    const server = await start({ users });
    await fakeAgentOn(server, ({ method }, answer) => {
      if (method === "ping") answer({ value: "pong" });
    });
    const { bus, agent } = directorOn(server);
    await agent.ping();
    for (let turn = 0; turn < 3; turn += 1)
      await expect(agent.getState(true, { timeoutMs: 50 })).rejects.toThrow(AgentSilent);
    expect({ connected: bus.connected, connections: bus.connections }).toEqual({
      connected: true,
      connections: 1,
    });
  });
});
