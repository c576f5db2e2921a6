import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { withDeadline } from "@slipway/kernel/deadline";
import type { AgentReply } from "@slipway/protocol/agent/envelope";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { taskIn } from "@slipway/testkit/agent-caller";
import { AgentMachine, certOf } from "@slipway/testkit/agent-machine";
import { AGENT, AGENT_BOOTSTRAP } from "@slipway/testkit/certificates";
import { eventually } from "@slipway/testkit/eventually";
import {
  AGENT_ID,
  bootstrapAgent,
  director as directorUser,
  healthMonitor,
  agent as lastingAgent,
  natsServerAvailable,
  TestNatsServer,
} from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { canUseSandboxes } from "@slipway/testkit/sandbox";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { directorOn, healthMonitorOn } from "../transports/testing/nats-peers.ts";
import { diskShop } from "./testing/test-disks.ts";

sampleTests(1 / 4);

const server = needs("nats-server", natsServerAvailable(), "the program nats-server is not installed");
const sandboxes = needs("userns", await canUseSandboxes(), "mount namespaces cannot be made");
const bundle = agentBundle();

type Director = Awaited<ReturnType<typeof directorOn>>;

/** The value of a message, its task polled to the end. */
async function value(director: Director, method: string, ...args: readonly unknown[]): Promise<unknown> {
  let reply: AgentReply = await director.ask(method, { args });
  await eventually(method, async () => {
    const task = taskIn(reply);
    if (task === undefined) return true;
    reply = await director.ask("get_task", { args: [task] });
    return undefined;
  });
  if ("exception" in reply) throw new Error(reply.exception.message);
  return reply.value;
}

describe.runIf(server)("a real agent process on a real NATS server", () => {
  let nats: TestNatsServer;
  let machine: AgentMachine;
  beforeEach(async () => {
    nats = await TestNatsServer.start();
    machine = await AgentMachine.open({ bundle: bundle(), mounts: sandboxes });
    onTestFinished(() => machine.close());
    const env = { bosh: { mbus: { cert: certOf(AGENT) } } };
    await machine.offer(machine.settings({ mbus: nats.url, env }));
  });

  /** The agent is connected: it answers where nobody listened before. */
  async function answering(director: Director): Promise<void> {
    await eventually("an answer to ping", async () => {
      const reply = await withDeadline("a ping", 500, systemClock, undefined, () =>
        director.ask("ping"),
      ).catch(() => undefined);
      return reply && "value" in reply && reply.value === "pong" ? true : undefined;
    });
  }

  it("answers a Director, and its first heartbeat comes at once", async () => {
    const heard = await healthMonitorOn(nats);
    await machine.started();
    const [subject, text] = await eventually("a heartbeat", () => heard[0]);
    expect(subject).toBe(`hm.agent.heartbeat.${AGENT_ID}`);
    expect(JSON.parse(text)).toMatchObject({ job_state: "running", vitals: { load: expect.any(Array) } });
    const director = await directorOn(nats);
    expect(await director.ask("ping")).toEqual({ value: "pong" });
    expect(director.replies.map(({ subject: where }) => where.split(".")[2])).toEqual([AGENT_ID]);
  });

  it("answers again after its server was killed with -9 and started again", async () => {
    const agent = await machine.started();
    await answering(await directorOn(nats));
    await nats.kill();
    await agent.said("was lost");
    await nats.run();
    await answering(await directorOn(nats));
    expect(agent.over).toBe(false);
  });

  it("waits for a server that is not there yet", async () => {
    await nats.kill();
    const agent = await machine.started();
    await agent.said("no connection to NATS");
    await nats.run();
    await expect(answering(await directorOn(nats))).resolves.toBeUndefined();
  });

  it("says that a reply is too large instead of sending it", async () => {
    const spec = { networks: { private: { type: "manual", filler: "x".repeat(1 << 20) } } };
    await writeFile(machine.paths.spec, JSON.stringify(spec));
    await machine.started();
    const director = await directorOn(nats);
    await answering(director);
    expect(await director.ask("get_state")).toEqual({
      exception: { message: "Response exceeded maximum allowed length" },
    });
    expect(await director.ask("ping")).toEqual({ value: "pong" });
  });

  it("tells the Health Monitor of a shutdown that was asked for", async () => {
    const heard = await healthMonitorOn(nats);
    await machine.started();
    const director = await directorOn(nats);
    await answering(director);
    expect(await value(director, "drain", "shutdown")).toBe(0);
    const shutdown = await eventually("the notice", () =>
      heard.find(([subject]) => subject.startsWith("hm.agent.shutdown")),
    );
    expect(shutdown).toEqual([`hm.agent.shutdown.${AGENT_ID}`, "null"]);
  });

  it("changes its bootstrap certificate for the lasting one, and no message of a Director that polls gets lost", async () => {
    await nats.reload({ ...directorUser, ...healthMonitor, ...bootstrapAgent, ...lastingAgent });
    const env = { bosh: { mbus: { cert: certOf(AGENT_BOOTSTRAP) } } };
    await machine.offer(machine.settings({ mbus: nats.url, env }));
    const agent = await machine.started();
    const director = await directorOn(nats);
    await answering(director);
    const mbus = { cert: certOf(AGENT) };
    // As the Ruby Director does it, which waits 45 seconds for an answer that does not come. This one asks all the time.
    const asked: Promise<AgentReply>[] = [director.ask("update_settings", { args: [{ mbus }] })];
    const task = taskIn((await asked[0]) as AgentReply);
    await eventually("the end of the task", async () => {
      for (const method of ["ping", "get_state"]) asked.push(director.ask(method));
      asked.push(director.ask("get_task", { args: [task] }));
      const reply = (await asked.at(-1)) as AgentReply;
      return "value" in reply && reply.value === "ok" ? true : undefined;
    });
    // From here on the bootstrap certificate opens nothing.
    await nats.reload({ ...directorUser, ...healthMonitor, ...lastingAgent });
    asked.push(director.ask("ping"), director.ask("get_task", { args: [task] }));
    const replies = await withDeadline("all answers", 40_000, systemClock, undefined, () =>
      Promise.all(asked),
    );
    expect(replies.filter((reply) => "exception" in reply)).toEqual([]);
    expect(agent.over).toBe(false);
    expect(agent.output()).not.toContain("was lost");
    // The certificate is the one that the next process begins with, too.
    await agent.kill();
    await machine.started();
    await answering(await directorOn(nats));
  });

  it("answers under its old certificate while the server does not know the new one", async () => {
    await nats.reload({ ...directorUser, ...healthMonitor, ...bootstrapAgent });
    const env = { bosh: { mbus: { cert: certOf(AGENT_BOOTSTRAP) } } };
    await machine.offer(machine.settings({ mbus: nats.url, env }));
    const agent = await machine.started();
    const director = await directorOn(nats);
    await answering(director);
    const task = taskIn(await director.ask("update_settings", { args: [{ mbus: { cert: certOf(AGENT) } }] }));
    await agent.said("no connection to NATS");
    expect(await director.ask("ping")).toEqual({ value: "pong" });
    await nats.reload({ ...directorUser, ...healthMonitor, ...bootstrapAgent, ...lastingAgent });
    await agent.said("under new credentials");
    expect(await value(director, "get_task", task)).toBe("ok");
  });

  it.runIf(sandboxes)(
    "takes two disks at once: one on the store, the other beside it, none twice",
    async () => {
      const shop = await diskShop("directories", machine.dir, (directory) =>
        writeFile(join(directory, "data"), "kept"),
      );
      const [one, two] = [
        await shop.filled(machine.dir, "disk-one"),
        await shop.filled(machine.dir, "disk-two"),
      ];
      await machine.started();
      const director = await directorOn(nats);
      await answering(director);
      const mounted = [one, two, one, two].map((disk) => value(director, "mount_disk", disk.cid, disk.hint));
      expect(await Promise.all(mounted)).toEqual([{}, {}, {}, {}]);
      const table = (await machine.sandbox?.run("cat", "/proc/self/mountinfo")) ?? "";
      const targets = table.split("\n").map((line) => line.split(" ")[4]);
      for (const target of [machine.paths.store, machine.paths.migrationTarget])
        expect(targets.filter((found) => found === target)).toHaveLength(1);
      expect(((await value(director, "list_disk")) as string[]).toSorted()).toEqual([one.cid, two.cid]);
    },
  );
});
