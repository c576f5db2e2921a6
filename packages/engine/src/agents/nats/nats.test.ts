import { systemClock } from "@slipway/kernel/clock";
import { STRANGER } from "@slipway/testkit/certificates";
import { fakeClock } from "@slipway/testkit/fake-clock";
import * as nats from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { SlowProxy } from "@slipway/testkit/slow-proxy";
import { latch } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { AgentRefused, AgentSilent, AgentUnaware } from "../agent.ts";
import { asIfOf, directorOn, fakeAgentOn, type Says } from "../testing/bus.ts";

const here = needs("nats-server", nats.natsServerAvailable(), "nats-server is not installed");
const start = nats.TestNatsServer.start;

const pong: Says = (_, answer) => answer({ value: "pong" });
/** Pauses between tries take no time; deadlines do. */
const quick = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 20), signal),
};

sampleTests(1 / 3);

describe.runIf(here)("a message to an agent over NATS", () => {
  it("goes to the agent's subject, and its answer to an inbox of this process and agent", async () => {
    const server = await start();
    const { asked } = await fakeAgentOn(server, pong);
    const { agent } = directorOn(server);
    await agent.ping();
    await agent.ping();
    expect(asked[0]).toMatchObject({ protocol: 3, method: "ping", arguments: [] });
    const [first, second] = asked.map(({ reply_to }) => reply_to.split("."));
    expect(first).toEqual(["director", expect.any(String), nats.AGENT_ID, expect.any(String)]);
    expect(second?.[1]).toBe(first?.[1]);
    expect(second?.[3]).not.toBe(first?.[3]);
  });

  it("is a task that is polled to its end", async () => {
    const server = await start();
    let polls = 0;
    const { methods } = await fakeAgentOn(server, ({ method }, answer) => {
      if (method === "apply") answer({ value: { agent_task_id: "t1", state: "running" } });
      else answer({ value: ++polls < 3 ? { agent_task_id: "t1", state: "running" } : "applied" });
    });
    await directorOn(server, quick).agent.apply({});
    expect(methods()).toEqual(["apply", "get_task", "get_task", "get_task"]);
  });

  it("fails with the agent's own words, and says when it does not know the message", async () => {
    const server = await start();
    await fakeAgentOn(server, ({ method }, answer) =>
      answer({
        exception: { message: method === "start" ? "Action Failed start: no" : `unknown message ${method}` },
      }),
    );
    const { agent } = directorOn(server);
    await expect(agent.start()).rejects.toThrow(AgentRefused);
    await expect(agent.start()).rejects.toThrow("Action Failed start: no");
    await expect(agent.ping()).rejects.toThrow(AgentUnaware);
  });

  it("is answered once: what comes twice, late or from another is dropped", async () => {
    const server = await start({ users: { ...nats.director, "agent-1.agent.bosh-internal": ALL } });
    let late: () => void = () => {};
    await fakeAgentOn(server, ({ method, reply_to }, answer) => {
      if (method === "list_disk") {
        late = () => answer({ value: ["late"] });
        return;
      }
      answer({ exception: { message: "somebody else" } }, asIfOf(reply_to, "agent-2"));
      answer({ value: "pong" });
      answer({ exception: { message: "twice" } });
      late();
    });
    const { agent } = directorOn(server, quick);
    await expect(agent.listDisk({ timeoutMs: 50 })).rejects.toThrow(AgentSilent);
    for (let turn = 0; turn < 20; turn++) await agent.ping();
  });

  it("says that an answer makes no sense, and quotes nothing of it", async () => {
    const server = await start();
    await fakeAgentOn(server, (_, answer) => answer("<html>secret</html>"));
    const error = await directorOn(server)
      .agent.getState(false)
      .catch((caught: unknown) => caught);
    expect(String(error)).toContain("something that is not JSON");
    expect(String(error)).not.toContain("secret");
  });

  it("says at once that no such agent is connected, and finds it when it comes", async () => {
    const server = await start();
    const { agent } = directorOn(server);
    // The connection is made meanwhile.
    await expect
      .poll(() => agent.getState(false, { timeoutMs: 1_000 }).catch(String))
      .toContain("no agent of this id is connected to NATS");
    const waiting = agent.waitUntilReady({ withinMs: 60_000 });
    await fakeAgentOn(server, pong);
    await waiting;
  });

  it("is not asked twice when no answer comes and asking twice could do harm", async () => {
    const server = await start();
    const got = latch();
    const { asked } = await fakeAgentOn(server, () => got.open());
    const clock = fakeClock();
    const started = expect(directorOn(server, clock).agent.start()).rejects.toThrow("no answer came");
    await got.opened;
    await clock.advance(45_000);
    await started;
    expect(asked).toHaveLength(1);
  });

  it("rejects a message larger than the server's limit with its size, and sends the next one", async () => {
    const server = await start();
    await fakeAgentOn(server, (_, answer) => answer({ value: "pong" }));
    const { agent } = directorOn(server);
    await expect(agent.writeStoreFile("a", "x".repeat(1 << 20))).rejects.toThrow(
      /bytes, and the NATS server takes 1048576; raise max_payload/,
    );
    await agent.ping();
  });

  it("has large answers whole", async () => {
    const server = await start();
    const content = "y".repeat(900_000);
    await fakeAgentOn(server, (_, answer) => answer({ value: { content } }));
    expect(await directorOn(server).agent.readStoreFile("a")).toBe(content);
  });

  it("stops waiting when the caller cancels", async () => {
    const server = await start();
    const got = latch();
    await fakeAgentOn(server, () => got.open());
    const leaving = new AbortController();
    const asked = directorOn(server).agent.ping({ signal: leaving.signal });
    await got.opened;
    leaving.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
  });
});

const ALL = { publish: [">"], subscribe: [">"] };

describe.runIf(here)("a NATS server", () => {
  it("waits for a NATS server that is down, and names it in the error", async () => {
    const server = await start({ down: true });
    const { agent, warnings } = directorOn(server);
    const refused = new RegExp(`no connection to NATS at 127.0.0.1:${server.port}: .*ECONNREFUSED`);
    await expect.poll(() => agent.start({ timeoutMs: 300 }).catch(String)).toMatch(refused);
    expect(warnings.join()).toContain("it is tried again");
    const later = agent.waitUntilReady({ withinMs: 60_000 });
    await server.run();
    await fakeAgentOn(server, pong);
    await later;
  });

  it("waits for a slow NATS server: sends each message once, and follows its task to the end", async () => {
    const server = await start();
    const proxy = await SlowProxy.to(server.port);
    const { methods } = await fakeAgentOn(proxy, ({ method }, answer) =>
      answer({ value: method === "apply" ? { agent_task_id: "t1", state: "running" } : "pong" }),
    );
    const { agent, bus, warnings } = directorOn(proxy);
    await agent.ping();
    proxy.delayMs = 700;
    await agent.apply({});
    await agent.start();
    expect(methods()).toEqual(["ping", "apply", "get_task", "start"]);
    expect({ connections: bus.connections, warnings }).toEqual({ connections: 1, warnings: [] });
  });

  it("follows a task to its end when the NATS server restarts meanwhile", async () => {
    const server = await start();
    const began = latch();
    await fakeAgentOn(server, ({ method }, answer) => {
      answer({ value: { agent_task_id: "t1", state: "running" } });
      // The Director has the id then.
      if (method === "get_task") began.open();
    });
    const applied = directorOn(server, quick).agent.apply({});
    await began.opened;
    await server.kill();
    await server.run();
    await fakeAgentOn(server, (_, answer) => answer({ value: "applied" }));
    await expect(applied).resolves.toBeUndefined();
  });

  it("takes an answer sent after a restart of the NATS server, without asking again", async () => {
    const server = await start();
    const got = latch<string>();
    const first = await fakeAgentOn(server, ({ reply_to }) => got.open(reply_to));
    const { agent } = directorOn(server, quick);
    const started = agent.start();
    const replyTo = await got.opened;
    await server.kill();
    await server.run();
    const second = await fakeAgentOn(server, () => {});
    // Agents send a reply until the server has taken it; the Director listens again at some moment.
    let over = false;
    const sent = (async () => {
      while (!over) {
        second.connection.publish(replyTo, JSON.stringify({ value: "started" }));
        await systemClock.sleep(20);
      }
    })();
    await started.finally(() => {
      over = true;
    });
    await sent;
    expect([...first.asked, ...second.asked]).toHaveLength(1);
  });

  it("names the NATS server that does not let the Director publish to agents as the cause", async () => {
    const users = { "default.director.bosh-internal": { publish: ["other"], subscribe: ["director.>"] } };
    const server = await start({ users });
    const { agent } = directorOn(server);
    await expect
      .poll(() => agent.getState(false, { timeoutMs: 1_000 }).catch(String))
      .toContain("does not let the Director send");
  });

  it("reports a NATS server that does not know the Director as no connection, and works once it does", async () => {
    const server = await start({ users: nats.agent });
    const { agent } = directorOn(server, quick);
    await expect
      .poll(() => agent.getState(false, { timeoutMs: 1_000 }).catch(String))
      .toMatch(/Authorization Violation/i);
    await server.reload({ ...nats.director, ...nats.agent });
    const waiting = agent.waitUntilReady({ withinMs: 60_000 });
    await fakeAgentOn(server, pong);
    await waiting;
  });

  it("lets no other certificate answer for an agent", async () => {
    const server = await start();
    await expect(fakeAgentOn(server, pong, STRANGER)).rejects.toThrow();
  });
});
