import type { Socket } from "node:net";
import { toError } from "@slipway/kernel/errors";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import { type Agent, AgentRefused, AgentSilent, AgentUnaware } from "./agent.ts";
import { agentClient } from "./agent-client.ts";
import {
  AGENT_ID,
  type Asked,
  answers,
  fakeAgents,
  SECRET,
  type Talk,
  values,
} from "./testing/fake-agent.ts";
import type { AgentRequest, AgentTransport, Delivery } from "./transport.ts";
import { failureOfConnection, startingFailure } from "./transport-failure.ts";

sampleTests(1 / 3);

const fakes = fakeAgents();
const caught = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error("nothing was thrown"),
    (error: unknown) => toError(error),
  );

/** Every message is a task that ends with the value, after so many polls. */
function tasks(of: (asked: Asked) => unknown, polls = 2): Talk {
  const open = new Map<string, { value: unknown; left: number }>();
  return (asked, response) => {
    if (asked.method === "cancel_task") return answers(response, { value: "canceled" });
    if (asked.method !== "get_task") {
      const id = `t-${open.size}`;
      open.set(id, { value: of(asked), left: polls });
      return answers(response, { value: { agent_task_id: id, state: "running" } });
    }
    const task = open.get(String(asked.arguments[0]));
    if (task === undefined) return answers(response, { exception: { message: "Task could not be found" } });
    if (task.left-- > 0)
      return answers(response, { value: { agent_task_id: asked.arguments[0], state: "running" } });
    answers(response, { value: task.value });
  };
}

const refuses =
  (message: (asked: Asked) => string): Talk =>
  (asked, response) =>
    answers(response, { exception: { message: message(asked) } });

describe("what an agent is sent", () => {
  it.each<[call: (agent: Agent) => Promise<unknown>, method: string, args: readonly unknown[]]>([
    [(a) => a.prepare({ job: {} }), "prepare", [{ job: {} }]],
    [(a) => a.apply({ job: {} }), "apply", [{ job: {} }]],
    [(a) => a.start(), "start", []],
    [(a) => a.stop(), "stop", []],
    [(a) => a.drain("update", { id: "1" }), "drain", ["update", { id: "1" }]],
    [(a) => a.runScript("pre-stop", { A: "1" }), "run_script", ["pre-stop", { env: { A: "1" } }]],
    [(a) => a.addPersistentDisk("v", { path: "/dev/x" }), "add_persistent_disk", ["v", { path: "/dev/x" }]],
    [(a) => a.addPersistentDisk("v", "/dev/x"), "add_persistent_disk", ["v", "/dev/x"]],
    [(a) => a.removePersistentDisk("v"), "remove_persistent_disk", ["v"]],
    [(a) => a.mountDisk("v"), "mount_disk", ["v"]],
    [(a) => a.unmountDisk("v"), "unmount_disk", ["v"]],
    [(a) => a.migrateDisk("v", "w"), "migrate_disk", ["v", "w"]],
    [(a) => a.updateSettings({ trusted_certs: "" }), "update_settings", [{ trusted_certs: "" }]],
    [(a) => a.writeStoreFile("n", "x"), "write_store_file", [{ path: "n", content: "x" }]],
    [(a) => a.shutdown(), "shutdown", []],
  ])("%s", async (call, method, args) => {
    const { agent, asked } = await fakes.open(values(() => 0));
    await call(agent);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ protocol: 3, method, arguments: args });
  });

  it("comes with the password, and each with a way back of its own", async () => {
    const { agent, asked } = await fakes.open(values(() => "pong"));
    await Promise.all([agent.ping(), agent.ping(), agent.ping()]);
    const expected = Buffer.from(`mbus:${SECRET.passwordFor(AGENT_ID)}`).toString("base64");
    for (const { authorization, reply_to: replyTo } of asked) {
      expect(authorization).toBe(`Basic ${expected}`);
      expect(replyTo).toMatch(new RegExp(`^director\\.d-1\\.${AGENT_ID}\\.[0-9a-f-]{36}$`));
    }
    expect(new Set(asked.map(({ reply_to: replyTo }) => replyTo)).size).toBe(3);
  });

  it("goes over one connection that is kept", async () => {
    const { agent, server } = await fakes.open(values(() => "pong"));
    let connections = 0;
    server.on("secureConnection", () => connections++);
    for (let time = 0; time < 5; time++) await agent.ping();
    expect(connections).toBe(1);
  });
});

describe("a task", () => {
  it("is polled soon at first, then every second, to its end", async () => {
    const clock = fakeClock({ hurry: true });
    const { agent, methods } = await fakes.open(
      tasks(() => ["vol-1"], 9),
      clock,
    );
    const noted: string[] = [];
    expect(await agent.listDisk({ noted: (what) => noted.push(what) })).toEqual(["vol-1"]);
    expect(methods()).toEqual(["list_disk", ...Array(10).fill("get_task")]);
    expect(noted).toEqual(Array(10).fill("polled"));
    expect(clock.slept).toEqual([10, 15, 25, 50, 100, 250, 500, 1000, 1000]);
  });

  it("accepts the task id of old agents, which do not wrap it in a value", async () => {
    const { agent } = await fakes.open(({ method }, response) => {
      if (method === "get_task") answers(response, { value: [] });
      else answers(response, { agent_task_id: "t", state: "running" });
    });
    expect(await agent.listDisk()).toEqual([]);
  });

  it("reports a failed task in the agent's words", async () => {
    const { agent } = await fakes.open(({ method }, response) => {
      if (method === "get_task")
        return answers(response, {
          value: 1,
          exception: { message: "Action Failed get_task: disk is on fire" },
        });
      answers(response, { value: { agent_task_id: "t", state: "running" } });
    });
    const error = await caught(agent.mountDisk("vol-1"));
    expect(error).toBeInstanceOf(AgentRefused);
    expect(error.message).toMatch(/refused mount_disk: Action Failed get_task: disk is on fire$/);
  });

  it("is left alone when its caller is cancelled", async () => {
    const cancel = new AbortController();
    const { agent, methods } = await fakes.open(tasks(() => ({}), 1_000));
    const mounting = caught(agent.mountDisk("vol-1", { signal: cancel.signal }));
    await expect.poll(() => methods().length).toBeGreaterThan(2);
    cancel.abort(new Error("cancelled by admin"));
    expect((await mounting).message).toBe("cancelled by admin");
    expect(methods()).not.toContain("cancel_task");
    await expect(agent.start({ signal: cancel.signal })).rejects.toThrow("cancelled by admin");
  });

  it("cancels the task of a drain when the caller cancels", async () => {
    const cancel = new AbortController();
    const { agent, asked, methods } = await fakes.open(tasks(() => 0, 1_000));
    const draining = caught(agent.drain("shutdown", {}, { signal: cancel.signal }));
    await expect.poll(() => methods().length).toBeGreaterThan(2);
    cancel.abort(new Error("cancelled by admin"));
    expect((await draining).message).toBe("cancelled by admin");
    expect(asked.at(-1)).toMatchObject({ method: "cancel_task", arguments: ["t-0"] });
  });
});

describe("agents of other times", () => {
  it.each<[call: (agent: Agent) => Promise<unknown>, tolerated: boolean]>([
    [(a) => a.addPersistentDisk("v", "/dev/x"), true],
    [(a) => a.removePersistentDisk("v"), true],
    [(a) => a.updateSettings({}), true],
    [(a) => a.runScript("post-stop", {}), true],
    [(a) => a.mountDisk("v"), false],
    [(a) => a.unmountDisk("v"), false],
    [(a) => a.listDisk(), false],
    [(a) => a.start(), false],
    [(a) => a.stop(), false],
    [(a) => a.writeStoreFile("n", ""), false],
    [(a) => a.readStoreFile("n"), false],
  ])("%s, not known to it: goes on %s", async (call, tolerated) => {
    const { agent, warnings } = await fakes.open(refuses(({ method }) => `unknown message ${method}`));
    const error = await caught(call(agent));
    expect(error instanceof AgentUnaware).toBe(!tolerated);
    expect(warnings).toHaveLength(tolerated ? 1 : 0);
  });

  it("other refusals of those messages count", async () => {
    const { agent } = await fakes.open(refuses(() => "Action Failed add_persistent_disk: no room"));
    const error = await caught(agent.addPersistentDisk("v", "/dev/x"));
    expect(error).toBeInstanceOf(AgentRefused);
    expect(error).not.toBeInstanceOf(AgentUnaware);
  });
});

describe("a file of the persistent disk", () => {
  it("is read to its text, and an answer without one makes no sense", async () => {
    const content = "ahoy";
    const { agent } = await fakes.open(
      tasks(({ arguments: [file] }) => ({ content: `${content} ${JSON.stringify(file)}` })),
    );
    expect(await agent.readStoreFile("note")).toBe(`ahoy {"path":"note"}`);
    const odd = await fakes.open(values(() => ({ text: content })));
    await expect(odd.agent.readStoreFile("note")).rejects.toThrow("makes no sense");
  });
});

describe("stop", () => {
  it("goes on when the agent's own wait for services ended", async () => {
    const words =
      "Action Failed get_task: Task x result: Timed out waiting for services 'a' to stop after 5 minutes";
    const { agent, warnings } = await fakes.open(refuses(() => words));
    await agent.stop();
    expect(warnings[0]).toContain("Timed out waiting for services 'a'");
  });

  it("is no longer waited for after 300 s", async () => {
    const clock = fakeClock({ hurry: true });
    const began = clock.monotonic();
    const { agent, warnings } = await fakes.open(
      tasks(() => "stopped", 10_000),
      clock,
    );
    await agent.stop();
    expect((clock.monotonic() - began) / 1000).toBeCloseTo(300, -1);
    expect(warnings[0]).toContain("did not stop its jobs within 300 s");
  });
});

describe("drain", () => {
  it.each<[answers: readonly number[], slept: readonly number[], asked: readonly string[]]>([
    [[0], [], ["shutdown"]],
    [[3], [3000], ["shutdown"]],
    [
      [-2, -1, 0],
      [2000, 1000],
      ["shutdown", "status", "status"],
    ],
    [
      [-2, 5],
      [2000, 5000],
      ["shutdown", "status"],
    ],
    [[10 ** 9], [86_400_000], ["shutdown"]],
  ])("%j", async (replies, slept, asked) => {
    const clock = fakeClock({ hurry: true });
    let next = 0;
    const fake = await fakes.open(
      values(() => replies[next++]),
      clock,
    );
    await fake.agent.drain("shutdown", {});
    expect(clock.slept).toEqual(slept);
    expect(fake.asked.map((question) => question.arguments[0])).toEqual(asked);
  });

  it.each([["soon"], [1.5], [null], [{}]])("%j is no number of seconds", async (value) => {
    const { agent } = await fakes.open(values(() => value));
    expect(await caught(agent.drain("shutdown", {}))).toBeInstanceOf(AgentSilent);
  });
});

describe("shutdown", () => {
  it("does not mind a VM that is off before it has answered", async () => {
    const { agent, methods } = await fakes.open((_, response) => response.socket?.destroy());
    await agent.shutdown();
    expect(methods()).toEqual(["shutdown"]);
  });
});

describe("an agent that is away for a moment", () => {
  it("gets the question once it is back, and once", async () => {
    const clock = fakeClock({ hurry: true });
    const fake = await fakes.open(
      values(() => ({})),
      clock,
    );
    const { server, port, agent } = fake;
    await new Promise((resolve) => server.close(resolve));
    const mounted = agent.mountDisk("vol-1", { timeoutMs: 100_000_000 });
    await expect.poll(() => clock.slept.length).toBeGreaterThan(2);
    server.listen(port, "127.0.0.1");
    await mounted;
    expect(fake.methods()).toEqual(["mount_disk"]);
  });
});

describe("a connection", () => {
  it("stays open between the messages of a deploy, and ends with the Director", async () => {
    const sockets = new Set<Socket>();
    const { agent, asked, server, close } = await fakes.open(tasks(() => ({})));
    server.on("secureConnection", (socket: Socket) => sockets.add(socket));
    await agent.prepare({});
    await agent.mountDisk("vol-1");
    await agent.start();
    expect([asked.length, sockets.size]).toEqual([12, 1]);
    close();
    await expect.poll(() => [...sockets].every((socket) => socket.destroyed)).toBe(true);
  });
});

describe("the protocol over another transport", () => {
  it("needs no more of it than to bring a message and a reply", async () => {
    const clock = fakeClock({ hurry: true });
    const sent: AgentRequest[] = [];
    const replies: Delivery[] = [
      { kind: "failed", failure: startingFailure, late: false },
      { kind: "task", id: "t" },
      { kind: "failed", failure: startingFailure, late: true },
      { kind: "value", value: {} },
    ];
    const bus: AgentTransport = {
      name: "agent 7 on a bus",
      send: async (request) => {
        sent.push(request);
        return replies[sent.length - 1] ?? { kind: "exception", message: "no more" };
      },
      putBlob: () => Promise.reject(new Error("nobody puts one here")),
      getBlob: () => Promise.reject(new Error("nobody gets one here")),
      close: () => undefined,
    };
    const agent = agentClient(bus, { clock, warn: () => undefined });
    // What may have arrived is not sent again, unless asking twice does no harm.
    expect((await caught(agent.mountDisk("v"))).message).toContain(
      "agent 7 on a bus did not answer mount_disk",
    );
    await agent.mountDisk("v");
    expect(sent.map(({ method }) => method)).toEqual(["mount_disk", "mount_disk", "get_task", "get_task"]);
    expect((await caught(agent.start())).message).toBe("agent 7 on a bus refused start: no more");
  });
});

describe("an agent that does not answer", () => {
  const unreachable = failureOfConnection({
    code: "ECONNREFUSED",
    why: "refused",
    phase: "connecting",
    reused: false,
  });
  const ask = async (delivery: Delivery, timeoutMs?: number) => {
    const clock = fakeClock({ hurry: true });
    const told: string[] = [];
    const transport: AgentTransport = {
      name: "agent a",
      send: async () => delivery,
      putBlob: async () => {},
      getBlob: () => Promise.reject(new Error("nobody gets one here")),
      close: () => {},
    };
    const agent = agentClient(transport, { clock, warn: () => {} });
    await caught(agent.stop({ timeoutMs, waits: (message) => told.push(message) }));
    return { told, waiting: clock.waiting };
  };

  it("reports to the task's output which agent is awaited, for how long, and why", async () => {
    const { told, waiting } = await ask({ kind: "failed", failure: unreachable, late: false });
    expect(told).toEqual(
      [5, 20, 35].map(
        (s) => `agent a has not answered stop for ${s} s, and is given 45 s: ${unreachable.what}`,
      ),
    );
    expect(waiting).toBe(0);
  });

  it("for a few seconds only, or that answers, is not worth a word", async () => {
    expect((await ask({ kind: "failed", failure: unreachable, late: false }, 5000)).told).toEqual([]);
    expect(await ask({ kind: "value", value: 0 })).toEqual({ told: [], waiting: 0 });
  });
});
