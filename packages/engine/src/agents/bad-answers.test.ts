import { createServer as createPlainServer } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { toError } from "@slipway/kernel/errors";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { latch } from "@slipway/testkit/waiting";
import { describe, expect, it, onTestFinished } from "vitest";
import { AgentRefused, AgentSilent } from "./agent.ts";
import { AGENT_ID, answers, fakeAgents, listening, SECRET, values } from "./testing/fake-agent.ts";

const fakes = fakeAgents();
const caught = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error("nothing was thrown"),
    (error: unknown) => toError(error),
  );
const PONG = '{"value":"pong"}';
const deep = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

describe("an invalid answer", () => {
  it.each<[what: string, status: number, type: string, body: string, said: RegExp]>([
    [
      "HTML",
      200,
      "text/html",
      "<html><b>Welcome</b> to nginx",
      /not JSON \(text\/html, 29 .*"Welcome to nginx"/,
    ],
    ["a proxy's error", 502, "text/html", "<h1>Bad Gateway</h1>", /HTTP status 502 .*"Bad Gateway"/],
    ["a redirect", 302, "", "", /HTTP status 302 \(no content type/],
    ["an empty body", 200, "application/json", "", /with an empty body/],
    ["broken JSON", 200, "application/json", '{"value": "po', /not JSON/],
    ["a bare value", 200, "application/json", '"pong"', /a string in place of/],
    ["a list", 200, "application/json", "[1]", /an array of 1 in place of/],
    [
      "neither value nor exception",
      200,
      "application/json",
      '{"values":1}',
      /without "value" and "exception"/,
    ],
    [
      "an exception without words",
      200,
      "application/json",
      '{"exception":"no"}',
      /exception without a message/,
    ],
    [
      "a task without an id",
      200,
      "",
      '{"value":{"agent_task_id":"","state":"running"}}',
      /task without an id/,
    ],
    ["a prototype key", 200, "", '{"value":{"__proto__":{}}}', /not JSON/],
    ["another value", 200, "", '{"value":"ping"}', /something else than pong/],
    ["endless nesting", 200, "", `{"value":${deep(5_000)}}`, /not JSON/],
    ["10 MB", 200, "application/json", `{"value":"${"x".repeat(10_000_000)}"}`, /more than 8 MiB/],
  ])("%s is told, once, and the next question is answered", async (_, status, type, body, said) => {
    let first = true;
    const { agent, asked } = await fakes.open((_asked, response) => {
      response.writeHead(first ? status : 200, type === "" ? {} : { "Content-Type": type });
      response.end(first ? body : PONG);
      first = false;
    });
    const error = await caught(agent.ping());
    expect(error).toBeInstanceOf(AgentSilent);
    expect(error.message).toMatch(said);
    expect(error.message.length).toBeLessThan(600);
    expect(error.message).toMatch(new RegExp(`agent ${AGENT_ID} at 127.0.0.1:.*; next: `));
    await agent.ping();
    expect(asked).toHaveLength(2);
  });

  it("is not quoted when it holds the password", async () => {
    const password = SECRET.passwordFor(AGENT_ID);
    const { agent } = await fakes.open((_, response) => response.end(`<p>you sent ${password}`));
    const error = await caught(agent.ping());
    expect(error.message).toContain("not JSON");
    expect(error.message).not.toContain("you sent");
  });

  it.each<[value: unknown, said: RegExp]>([
    ["running", /get_state: expected an object/],
    [{ job_state: "running" }, /get_state\.networks: it is missing/],
    [{ job_state: "running", networks: [] }, /get_state\.networks: expected an object/],
    [{ job_state: "", networks: {} }, /job_state must not be empty/],
    [{ job_state: "running", networks: { a: { ip: 5 } } }, /networks\.a\.ip: expected string/],
  ])("%j is no state", async (value, said) => {
    const { agent } = await fakes.open(values(() => value));
    const error = await caught(agent.getState(false));
    expect(error).toBeInstanceOf(AgentSilent);
    expect(error.message).toMatch(said);
  });

  it.each([[null], ["vol-1"], [["vol-1", 7]], [[""]], [{ 0: "vol-1" }]])(
    "%j lists no disks",
    async (value) => {
      const { agent } = await fakes.open(values(() => value));
      expect(await caught(agent.listDisk())).toBeInstanceOf(AgentSilent);
    },
  );

  it("keeps the words of an exception, but not megabytes of them", async () => {
    const message = `Action Failed start: head ${"x".repeat(2_000_000)} tail`;
    const { agent } = await fakes.open((_, response) => answers(response, { exception: { message } }));
    const error = await caught(agent.start());
    expect(error).toBeInstanceOf(AgentRefused);
    expect(error.message).toMatch(
      /refused start: Action Failed start: head x+\n\.\.\.\[\d+ characters left out\]/,
    );
    expect(error.message).toMatch(/ tail$/);
    expect(error.message.length).toBeLessThan(9_000);
  });
});

describe("an agent that answers twice", () => {
  const raw = (body: string) =>
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const GHOST = raw('{"value":["ghost"]}');

  it("in one breath: the second is not taken for the answer to another question", async () => {
    const { agent } = await fakes.open(({ method }, response) => {
      if (method === "ping") response.socket?.write(raw(PONG) + GHOST);
      else answers(response, { value: ["vol-1"] });
    });
    await agent.ping();
    expect(await agent.listDisk()).toEqual(["vol-1"]);
  });

  it("does not take a second answer after a pause for the answer to another question", async () => {
    let socket: Socket | null = null;
    const { agent } = await fakes.open(({ method }, response) => {
      if (method !== "ping") return answers(response, { value: ["vol-1"] });
      socket = response.socket;
      socket?.write(raw(PONG));
    });
    await agent.ping();
    const kept = socket as Socket | null;
    kept?.write(GHOST);
    // The connection that says more than it was asked is closed.
    await expect.poll(() => kept?.destroyed).toBe(true);
    expect(await agent.listDisk()).toEqual(["vol-1"]);
  });
});

describe("no answer", () => {
  it("in time: the late one is not taken for that to the next question", async () => {
    const clock = fakeClock();
    let late = () => {};
    const { agent, asked } = await fakes.open(({ method }, response) => {
      if (method === "start") late = () => answers(response, { value: ["late"] });
      else answers(response, { value: ["vol-1"] });
    }, clock);
    const started = caught(agent.start());
    await expect.poll(() => asked.length).toBe(1);
    await clock.advance(45_000);
    const error = await started;
    expect(error).toBeInstanceOf(AgentSilent);
    expect(error.message).toMatch(
      /did not answer start \(tried for 45 s\): it has the question, but does not answer/,
    );
    late();
    expect(await agent.listDisk()).toEqual(["vol-1"]);
  });

  it("in full: what drips in does not count", async () => {
    const clock = fakeClock();
    const { agent, asked } = await fakes.open((_, response) => {
      response.writeHead(200).write('{"value"');
    }, clock);
    const failed = caught(agent.start());
    await expect.poll(() => asked.length).toBe(1);
    await clock.advance(45_000);
    expect(await failed).toBeInstanceOf(AgentSilent);
  });

  it.each([
    ["getState", 3],
    ["mountDisk", 1],
  ] as const)("to %s: asked %i times in all", async (method, times) => {
    const clock = fakeClock();
    const { agent, asked } = await fakes.open(() => {}, clock);
    const failed = caught(method === "getState" ? agent.getState(false) : agent.mountDisk("vol-1"));
    for (let time = 1; time <= times; time++) {
      await expect.poll(() => asked.length).toBe(time);
      await clock.advance(45_000);
    }
    expect(await failed).toBeInstanceOf(AgentSilent);
    expect(asked).toHaveLength(times);
  });

  it("to get_task: the task is asked for four more times, and then still followed", async () => {
    const clock = fakeClock();
    let polls = 0;
    const { agent, methods } = await fakes.open(({ method }, response) => {
      if (method === "mount_disk")
        return answers(response, { value: { agent_task_id: "t", state: "running" } });
      if (++polls === 5) answers(response, { value: {} });
    }, clock);
    const mounted = agent.mountDisk("vol-1");
    for (let poll = 1; poll <= 4; poll++) {
      await expect.poll(() => polls).toBe(poll);
      await clock.advance(45_000);
    }
    await mounted;
    expect(methods()).toEqual(["mount_disk", ...Array(5).fill("get_task")]);
  });

  it("because the connection broke: what may have been done is not asked for again, a look is", async () => {
    const clock = fakeClock({ hurry: true });
    let broken = 0;
    const { agent, methods } = await fakes.open(({ method }, response) => {
      if (method === "mount_disk" || ++broken <= 2) response.socket?.destroy();
      else answers(response, { value: { job_state: "running", networks: {} } });
    }, clock);
    const error = await caught(agent.mountDisk("vol-1"));
    expect(error).toBeInstanceOf(AgentSilent);
    expect(error.message).toMatch(/mount_disk .*the connection broke off before an answer/);
    expect((await agent.getState(false)).jobState).toBe("running");
    expect(methods()).toEqual(["mount_disk", "get_state", "get_state", "get_state"]);
  });

  it("on a connection that was kept and is closed meanwhile: a new one is made", async () => {
    const { agent, asked, server } = await fakes.open(values(() => "pong"));
    for (let time = 1; time <= 5; time++) {
      await agent.ping();
      server.closeIdleConnections();
    }
    expect(asked).toHaveLength(5);
  });

  it("from an agent that restarts: the task is asked for until it is back", async () => {
    const clock = fakeClock({ hurry: true });
    let polls = 0;
    const { agent } = await fakes.open(({ method }, response) => {
      if (method === "update_settings")
        answers(response, { value: { agent_task_id: "t", state: "running" } });
      else if (++polls < 4) response.writeHead(500).end();
      else answers(response, { value: "ok" });
    }, clock);
    await agent.updateSettings({});
    expect(polls).toBe(4);
  });

  it("from an agent that says it restarts: the question is put again", async () => {
    const clock = fakeClock({ hurry: true });
    let times = 0;
    const { agent } = await fakes.open((_, response) => {
      const restarting = { exception: { message: "restarting agent: it takes no new tasks" } };
      answers(response, ++times < 3 ? restarting : { value: "started" });
    }, clock);
    await agent.start();
    expect(times).toBe(3);
  });
});

describe("an address without an agent", () => {
  it.each(["says nothing", "hangs up", "speaks plain HTTP"])(
    "reports an address where another program %s",
    async (how) => {
      const silent = how === "says nothing";
      const clock = fakeClock({ hurry: !silent });
      const greeted = latch();
      const server =
        how === "speaks plain HTTP"
          ? createPlainServer((_, response) => response.end("hello"))
          : createTcpServer((socket) => {
              onTestFinished(() => void socket.destroy());
              socket.on("error", () => {});
              socket.once("data", () => greeted.open());
              if (how === "hangs up") socket.destroy();
            });
      const port = await listening(server);
      const asked = caught(fakes.agentAt(port, clock).ping({ timeoutMs: 5_000 }));
      if (silent) {
        await greeted.opened;
        await clock.advance(5_000);
      }
      const error = await asked;
      expect(error).toBeInstanceOf(AgentSilent);
      expect(error.message).toMatch(
        /does not finish the TLS handshake|the TLS handshake broke off|TLS failed \(.*wrong version/,
      );
    },
  );
});
