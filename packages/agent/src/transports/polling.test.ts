import { setImmediate as nextTurn } from "node:timers/promises";
import { type Clock, systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentReply } from "@slipway/protocol/agent/envelope";
import { taskIn } from "@slipway/testkit/agent-caller";
import { AGENT_SERVER } from "@slipway/testkit/certificates";
import { type FakeClock, fakeClock } from "@slipway/testkit/fake-clock";
import { post } from "@slipway/testkit/https-client";
import { natsServerAvailable, TestNatsServer } from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { dispatching } from "../dispatch/testing/dispatching.ts";
import { silentLog } from "../log.ts";
import { blobDirectory } from "./blob-directory.ts";
import { httpsTransport } from "./https.ts";
import { agentOn, directorOn } from "./testing/nats-peers.ts";
import type { RequestHandler } from "./transport.ts";

const nats = needs("nats-server", natsServerAvailable(), "nats-server is not installed");
const HOLD_MS = 200;

type Ask = (method: string, ...args: readonly unknown[]) => Promise<AgentReply>;

async function overNats(handler: RequestHandler): Promise<Ask> {
  const server = await TestNatsServer.start();
  await agentOn(server).transport.start(handler);
  const director = await directorOn(server);
  return (method, ...args) => director.ask(method, { args });
}

async function overHttps(handler: RequestHandler): Promise<Ask> {
  const { path, remove } = await temporaryDirectory();
  const transport = httpsTransport({
    url: "https://mbus:s3cret@127.0.0.1:0",
    credentials: AGENT_SERVER,
    blobs: blobDirectory(path, systemRandom),
    log: silentLog,
    clock: systemClock,
  });
  await transport.start(handler);
  onTestFinished(async () => {
    await transport.close();
    await remove();
  });
  return async (method, ...args) => {
    const body = JSON.stringify({ protocol: 3, method, arguments: args, reply_to: "cli" });
    return JSON.parse((await post(transport.port, body)).text) as AgentReply;
  };
}

/** An agent whose `stop` takes so long, by a clock that moves only while the agent holds an answer back. */
async function agent(taskMs: number, reach: (handler: RequestHandler) => Promise<Ask>) {
  const clock = fakeClock();
  const stop = async () => {
    await clock.sleep(taskMs);
    return "stopped" as const;
  };
  let held = 0;
  const counting: Clock = {
    ...clock,
    after: (ms, callback) => {
      held++;
      const cancel = clock.after(ms, callback);
      return () => {
        held--;
        cancel();
      };
    },
  };
  const { handler } = await dispatching({ actions: { stop }, holdMs: HOLD_MS, clock: counting });
  const ask = await reach(handler);
  /** The agent may take its time for an answer; the clock moves on until it is there. */
  const answered: Ask = async (method, ...args) => {
    let reply: AgentReply | undefined;
    const asked = ask(method, ...args).then((one) => {
      reply = one;
    });
    while (reply === undefined) {
      await nextTurn();
      if (held > 0) await clock.advance(5);
    }
    await asked;
    return reply;
  };
  return { clock, ask: answered };
}

/** The Ruby Director: asks at once for the task that it was told of, and then once a second. */
async function likeRuby(clock: FakeClock, ask: Ask) {
  let reply = await ask("stop");
  expect(taskIn(reply)).toBeDefined();
  const task = taskIn(reply);
  let asked = 0;
  for (;;) {
    asked++;
    reply = await ask("get_task", task);
    if (taskIn(reply) === undefined) return { value: "value" in reply && reply.value, asked };
    await clock.advance(1000);
  }
}

describe.each([
  { bus: "NATS", reach: overNats, here: nats },
  { bus: "HTTPS", reach: overHttps, here: true },
])("a Director that polls over $bus", ({ reach, here }) => {
  it.runIf(here).each([
    { what: "ends at once", ms: 0, asked: 1 },
    { what: "ends while the first answer is held", ms: 150, asked: 1 },
    { what: "ends while the answer to get_task is held", ms: 350, asked: 1 },
    { what: "takes longer", ms: 900, asked: 2 },
  ])("asks $asked times for a task that $what", async ({ ms, asked }) => {
    const { clock, ask } = await agent(ms, reach);
    expect(await likeRuby(clock, ask)).toEqual({ value: "stopped", asked });
  });

  it.runIf(here)("is always told of the task first, and never waits longer than that", async () => {
    const { clock, ask } = await agent(60_000, reach);
    const begun = clock.monotonic();
    const task = taskIn(await ask("stop"));
    expect(clock.monotonic() - begun).toBe(HOLD_MS);
    expect(await ask("get_task", task)).toEqual({ value: { agent_task_id: task, state: "running" } });
    expect(clock.monotonic() - begun).toBe(2 * HOLD_MS);
  });
});
