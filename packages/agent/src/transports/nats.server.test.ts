import { LARGEST_NATS_REPLY } from "@slipway/protocol/agent/envelope";
import {
  AGENT,
  AGENT_BOOTSTRAP,
  EVIL_SERVER,
  MISPLACED_SERVER,
  STRANGER,
} from "@slipway/testkit/certificates";
import * as nats from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { SlowProxy } from "@slipway/testkit/slow-proxy";
import { describe, expect, it } from "vitest";
import type { ActionTable } from "../actions/action.ts";
import { dispatching, gate, taskId } from "../dispatch/testing/dispatching.ts";
import {
  agentOn,
  directorOn,
  hastyClock,
  healthMonitorOn,
  patientClock,
  quickClock,
} from "./testing/nats-peers.ts";

const here = needs("nats-server", nats.natsServerAvailable(), "nats-server is not installed");
const { TestNatsServer, AGENT_ID } = nats;
const others = { ...nats.director, ...nats.healthMonitor };

sampleTests(1 / 3);

const ping = { ping: async () => "pong" } as const satisfies ActionTable;
const pong = { value: "pong" };

/** An agent with a real dispatcher, connected. */
async function connected(
  server: { readonly url: string },
  actions: ActionTable,
  credentials = AGENT,
  clock = quickClock,
) {
  const dispatcher = await dispatching({ actions: { ...ping, ...actions } });
  const agent = agentOn(server, credentials, clock);
  await agent.transport.start(dispatcher.handler);
  return { ...agent, dispatcher };
}

/** Its `remove_file` says that it has begun, and is done when `slow` is opened. */
async function connectedSlowly(server: nats.TestNatsServer, clock = patientClock) {
  const began = gate();
  const slow = gate();
  const remove_file = async () => {
    began.open();
    await slow.passed;
    return "done";
  };
  return { ...(await connected(server, { remove_file }, AGENT, clock)), began, slow };
}

describe.runIf(here)("over a real nats-server with the permissions of a deployment", () => {
  it("a request is answered on the subject its body names", async () => {
    const server = await TestNatsServer.start();
    const { lines } = await connected(server, {});
    const { ask, replies, process } = await directorOn(server);
    expect(await ask("ping")).toEqual(pong);
    expect(await ask("frobnicate")).toEqual({ exception: { message: "unknown message frobnicate" } });
    expect(replies.map((reply) => reply.subject)).toEqual([
      `director.${process}.${AGENT_ID}.r1`,
      `director.${process}.${AGENT_ID}.r2`,
    ]);
    expect(lines).toEqual([`connected to NATS at 127.0.0.1:${server.port}`]);
  });

  it("an invalid request gets no answer, nor does one with a foreign reply subject; the next ping does", async () => {
    const server = await TestNatsServer.start();
    const { lines } = await connected(server, {});
    const { ask, send, replies, request } = await directorOn(server);
    for (const body of ["{", "", "[]"]) send(body);
    for (const replyTo of [`agent.${AGENT_ID}`, "director.p1.other.r1", `director.p1.${AGENT_ID}.a.b`, "x y"])
      send(request("ping", { replyTo }).body);
    send('{"method":"ping"}');
    expect(await ask("ping")).toEqual(pong);
    expect(replies).toHaveLength(1);
    expect(lines.filter((line) => line.includes("it gets no reply"))).toHaveLength(5);
    expect(lines.join()).not.toContain("Violation");
  });

  it("a request that arrives twice is run once and answered once", async () => {
    const server = await TestNatsServer.start();
    let runs = 0;
    await connected(server, { remove_file: async () => String(++runs) });
    const { ask, send, replies, request } = await directorOn(server);
    const { body } = request("remove_file", { args: ["/tmp/a"] });
    for (let i = 0; i < 3; i++) send(body);
    expect(await ask("ping")).toEqual(pong);
    expect(runs).toBe(1);
    expect(replies.map((reply) => reply.text)).toEqual(['{"value":"1"}', '{"value":"pong"}']);
  });

  it("messages that come while a slow one runs are all answered, and ping does not wait for it", async () => {
    const server = await TestNatsServer.start();
    const slow = gate();
    const order: string[] = [];
    await connected(server, {
      remove_file: async ({ path }) => {
        if (path === "0") await slow.passed;
        order.push(path);
        return path;
      },
    });
    const { ask } = await directorOn(server);
    const paths = Array.from({ length: 100 }, (_, at) => String(at));
    const removed = paths.map((path) => ask("remove_file", { args: [path] }));
    expect(await ask("ping")).toEqual(pong);
    expect(order).toEqual([]);
    slow.open();
    expect(await Promise.all(removed)).toEqual(paths.map((value) => ({ value })));
    expect(order).toEqual(paths);
  });

  it("a value too large is replaced by an exception, and an exception too large keeps head and tail", async () => {
    const server = await TestNatsServer.start();
    await connected(server, {
      remove_file: async ({ path }) => {
        const much = `head${'"'.repeat(LARGEST_NATS_REPLY)}tail`;
        if (path === "throw") throw new Error(much);
        return much;
      },
    });
    const { ask } = await directorOn(server);
    expect(await ask("remove_file", { args: ["value"] })).toEqual({
      exception: { message: "Response exceeded maximum allowed length" },
    });
    const reply = await ask("remove_file", { args: ["throw"] });
    expect(JSON.stringify(reply).length).toBeLessThanOrEqual(LARGEST_NATS_REPLY);
    expect(reply).toMatchObject({
      exception: {
        message: expect.stringMatching(
          /^Action Failed remove_file: head"+\n\.\.\.\[truncated\]\.\.\.\n"+tail$/,
        ),
      },
    });
  });

  it("heartbeats, alerts and the notice of shutdown reach the Health Monitor", async () => {
    const server = await TestNatsServer.start();
    const { transport } = await connected(server, {});
    const heard = await healthMonitorOn(server);
    await transport.publish("heartbeat", { job: null });
    await transport.publish("alert", { id: "1" });
    await transport.publish("shutdown", undefined);
    await expect
      .poll(() => heard)
      .toEqual([
        [`hm.agent.heartbeat.${AGENT_ID}`, '{"job":null}'],
        [`hm.agent.alert.${AGENT_ID}`, '{"id":"1"}'],
        [`hm.agent.shutdown.${AGENT_ID}`, "null"],
      ]);
  });

  it("a message larger than the server takes is refused at once and costs nothing else", async () => {
    const server = await TestNatsServer.start();
    const { transport, lines } = await connected(server, {});
    await expect(transport.publish("alert", { id: "x".repeat(2 * LARGEST_NATS_REPLY) })).rejects.toThrow(
      "could not be sent in 1 tries",
    );
    expect(await (await directorOn(server)).ask("ping")).toEqual(pong);
    expect(lines).toHaveLength(1);
  });

  it("reports a subject the server does not allow, and nothing else fails", async () => {
    const [name = "", permissions] = Object.entries(nats.agent)[0] ?? [];
    const publish = (permissions?.publish ?? []).filter((subject) => !subject.includes("alert"));
    const users = { ...others, [name]: { publish, subscribe: permissions?.subscribe ?? [] } };
    const server = await TestNatsServer.start({ users });
    const { transport, lines } = await connected(server, {});
    await transport.publish("alert", { id: "1" });
    await expect.poll(() => lines.join()).toMatch(/Permissions Violation for Publish to "hm.agent.alert/);
    const { ask } = await directorOn(server);
    expect(await ask("ping")).toEqual(pong);
    expect(lines.filter((line) => line.startsWith("connected"))).toHaveLength(1);
  });

  it("close lets the answer under way go out", async () => {
    const server = await TestNatsServer.start();
    const { transport, began, slow } = await connectedSlowly(server);
    const { ask } = await directorOn(server);
    const reply = ask("remove_file", { args: ["a"] });
    await began.passed;
    const closed = transport.close();
    slow.open();
    expect(await reply).toEqual({ value: "done" });
    await closed;
  });
});

describe.runIf(here)("a server that is not ready for the agent", () => {
  it("is asked again until it knows the agent", async () => {
    const server = await TestNatsServer.start({ users: others });
    const dispatcher = await dispatching({ actions: ping });
    const { transport, lines } = agentOn(server);
    const started = transport.start(dispatcher.handler);
    await expect.poll(() => lines.join()).toMatch(/Authorization Violation/);
    await server.reload({ ...others, ...nats.agent });
    await started;
    expect(await (await directorOn(server)).ask("ping")).toEqual(pong);
  });

  it("is asked again until it allows the agent's subject", async () => {
    const [name = ""] = Object.keys(nats.agent);
    const server = await TestNatsServer.start({
      users: { ...others, [name]: { publish: [], subscribe: ["x"] } },
    });
    const dispatcher = await dispatching({ actions: ping });
    const { transport, lines } = agentOn(server);
    const started = transport.start(dispatcher.handler);
    await expect.poll(() => lines.join()).toContain(`does not let this agent subscribe to agent.${AGENT_ID}`);
    await server.reload({ ...others, ...nats.agent });
    await started;
    expect(await (await directorOn(server)).ask("ping")).toEqual(pong);
  });

  it("is found when it comes up after being down, and again after kill -9", async () => {
    const server = await TestNatsServer.start({ down: true });
    const dispatcher = await dispatching({ actions: ping });
    const { transport, lines } = agentOn(server);
    const started = transport.start(dispatcher.handler);
    await expect.poll(() => lines.join()).toContain("connection refused");
    await server.run();
    await started;
    expect(await (await directorOn(server)).ask("ping")).toEqual(pong);
    await server.kill();
    await expect.poll(() => lines.join()).toContain("was lost");
    await server.run();
    await expect.poll(() => lines.filter((line) => line.startsWith("connected"))).toHaveLength(2);
    expect(await (await directorOn(server)).ask("ping")).toEqual(pong);
  });

  it("gets the answer to what it asked before kill -9 once it is back, and the heartbeat too", async () => {
    const server = await TestNatsServer.start();
    // The agent comes back after the Director: a message without a listener is lost.
    const listens = gate();
    const { transport, began, slow } = await connectedSlowly(server, {
      ...patientClock,
      sleep: (ms, signal) => listens.passed.then(() => patientClock.sleep(ms, signal)),
    });
    const before = await directorOn(server);
    const { body, subject } = before.request("remove_file", { args: ["a"] });
    before.send(body);
    await began.passed;
    await server.kill();
    slow.open();
    const beat = transport.publish("heartbeat", {});
    await server.run();
    const { replies } = await directorOn(server);
    listens.open();
    await beat;
    await expect.poll(() => replies).toContainEqual({ subject, text: '{"value":"done"}' });
  });

  it("is left while it is frozen, and found again when it is not", async () => {
    const server = await TestNatsServer.start();
    const dispatcher = await dispatching({ actions: ping });
    const time = hastyClock();
    const { transport, lines } = agentOn(server, AGENT, time.clock);
    await transport.start(dispatcher.handler);
    await server.freeze();
    time.hasty = true;
    const beat = transport.publish("heartbeat", {});
    await expect.poll(() => lines.join()).toMatch(/was lost.*did not finish the greeting/);
    time.hasty = false;
    server.thaw();
    await beat;
    expect(await (await directorOn(server)).ask("ping")).toEqual(pong);
  });

  it("is found again after it has cut off a slow agent: the task goes on, and is answered", async () => {
    const server = await TestNatsServer.start({ more: "max_pending: 2097152" });
    const proxy = await SlowProxy.to(server.port);
    const [began, slow] = [gate(), gate()];
    const { lines } = await connected(proxy, {
      remove_file: async () => {
        began.open();
        await slow.passed;
        return "done";
      },
    });
    const { ask, send } = await directorOn(server);
    const answer = ask("remove_file", { args: ["a"] });
    await began.passed;
    proxy.stall();
    const cut = server.cutOff();
    // More than all the buffers between them; each is no request.
    for (let nth = 0; nth < 40; nth += 1) send(JSON.stringify({ large: "x".repeat(900_000) }));
    await cut;
    proxy.flow();
    await expect.poll(() => lines.filter((line) => line.startsWith("connected"))).toHaveLength(2);
    slow.open();
    expect(await answer).toEqual({ value: "done" });
    expect(await ask("ping")).toEqual(pong);
  });

  it("fails the heartbeat after 60 tries if it never gets ready", async () => {
    const server = await TestNatsServer.start({ down: true });
    const { transport } = agentOn(server);
    await expect(transport.publish("heartbeat", {})).rejects.toThrow(
      `a message for hm.agent.heartbeat.${AGENT_ID} could not be sent in 60 tries`,
    );
  });
});

describe.runIf(here)("a wrong server", () => {
  it.each([
    ["by its name", { server: EVIL_SERVER }, AGENT, /must end in \.nats\.bosh-internal/],
    ["by its address", { server: MISPLACED_SERVER }, AGENT, /IP: 127\.0\.0\.1 is not in the cert's list/],
    ["by its CA", {}, { ...AGENT, ca: STRANGER.ca }, /unable to verify|self-signed|local issuer/],
    ["by talking without TLS", { tls: false }, AGENT, /does not support 'tls'/],
  ] as const)("%s gets neither messages nor a subscription", async (_, setup, credentials, why) => {
    const server = await TestNatsServer.start(setup);
    const dispatcher = await dispatching({ actions: ping });
    const { transport, lines } = agentOn(server, credentials);
    const started = transport.start(dispatcher.handler);
    await expect.poll(() => lines.join()).toMatch(why);
    expect(lines.join()).not.toContain("connected to NATS");
    await transport.close();
    await started;
  });
});

describe.runIf(here)("rotation of certificates", () => {
  const users = { ...others, ...nats.bootstrapAgent };
  const settings = [{ mbus: { cert: { ca: AGENT.ca, certificate: AGENT.certificate, private_key: "k" } } }];

  it("keeps the task across the restart that update_settings asks for", async () => {
    const server = await TestNatsServer.start({ users });
    const before = await connected(
      server,
      {
        update_settings: async (_, { services }) => {
          services.restart("the bus changed");
          return "ok";
        },
      },
      AGENT_BOOTSTRAP,
    );
    const { ask } = await directorOn(server);
    const id = taskId(await ask("update_settings", { args: settings }));
    await before.dispatcher.tasks.idle();
    expect(before.dispatcher.restarts).toHaveLength(1);
    await before.transport.close();

    await server.reload({ ...others, ...nats.agent });
    const next = await dispatching({ actions: ping, after: before.dispatcher });
    const { transport } = agentOn(server, AGENT);
    await transport.start(next.handler);
    expect(await ask("get_task", { args: [id] })).toEqual({ value: "ok" });
  });

  it("keeps the running task without a restart, though the server removes the old name", async () => {
    const server = await TestNatsServer.start({ users: { ...users, ...nats.agent } });
    const work = gate();
    const { transport, lines, dispatcher } = await connected(
      server,
      {
        stop: async () => {
          await work.passed;
          return "stopped";
        },
      },
      AGENT_BOOTSTRAP,
    );
    const { ask } = await directorOn(server);
    const id = taskId(await ask("stop"));
    expect(() => transport.rotate({ ...AGENT, privateKey: "junk" })).toThrow("cannot be used");
    void transport.rotate(AGENT);
    await expect.poll(() => lines.filter((line) => line.startsWith("connected"))).toHaveLength(2);
    await server.reload({ ...others, ...nats.agent });
    expect(await ask("get_task", { args: [id] })).toEqual({ value: { agent_task_id: id, state: "running" } });
    work.open();
    await dispatcher.tasks.idle();
    expect(await ask("get_task", { args: [id] })).toEqual({ value: "stopped" });
    expect(lines.filter((line) => line.includes("lost"))).toEqual([]);
  });

  it("leaves the old connection in service if the server does not know the new name", async () => {
    const server = await TestNatsServer.start({ users });
    const { transport, lines } = await connected(server, {}, AGENT_BOOTSTRAP);
    const { ask } = await directorOn(server);
    void transport.rotate(AGENT);
    await expect.poll(() => lines.join()).toMatch(/Authorization Violation/);
    expect(await ask("ping")).toEqual(pong);
    await server.reload({ ...users, ...nats.agent });
    await expect.poll(() => lines.filter((line) => line.startsWith("connected"))).toHaveLength(2);
    expect(await ask("ping")).toEqual(pong);
  });
});
