import { X509Certificate } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { withDeadline } from "@slipway/kernel/deadline";
import { expectEqual, expectIncludes, expectTrue } from "../expect.ts";
import { type Check, type CheckContext, given } from "./check.ts";
import { type Messages, runningId } from "./messages.ts";
import { daemon, pidOf, reaches, runs, withJobs } from "./test-jobs.ts";

/** A start with its disks and settings, slow machines included. */
const START_MS = 60_000;
/** How long an agent that refuses to start is listened for. */
const SILENCE_MS = 15_000;
const PATIENCE_MS = 1_000;
const PAUSE_MS = 50;

/** The agent that a restart of "https" restarts; with NATS alone there is only one. */
const restarted = ({ https }: CheckContext) => (https === undefined ? "nats" : "https");

/** A task that has ended and that no restart survives. */
async function passingTask(agent: Messages): Promise<string> {
  const reply = await agent.send("prepare", [{}]);
  const id = "value" in reply ? runningId(reply.value) : undefined;
  if (id === undefined) throw new Error("prepare did not answer with a task");
  await agent.value("get_task", [id]);
  return id;
}

/** Waits for pong, through everything that a starting agent says or does not say. */
export async function pong(agent: Messages, ms: number): Promise<boolean> {
  const giveUp = agent.clock.monotonic() + ms;
  while (agent.clock.monotonic() < giveUp) {
    const ping = () => agent.send("ping");
    const reply = await withDeadline("ping", PATIENCE_MS, agent.clock, undefined, ping).catch(
      () => undefined,
    );
    if (reply !== undefined && "value" in reply && reply.value === "pong") return true;
    await agent.clock.sleep(PAUSE_MS);
  }
  return false;
}

/** Restarts the agent; it answers again, and it is another process. */
async function restart(context: CheckContext): Promise<void> {
  const { agent } = context;
  const before = await passingTask(agent);
  await given(context.control)("restart", restarted(context));
  expectTrue(await pong(agent, START_MS), `no pong within ${START_MS / 1000} s of the restart`);
  expectIncludes(await agent.failure("get_task", [before]), "could not be found");
}

/** The answer to a task, while its agent may be gone. */
async function outlived(agent: Messages, task: string): Promise<unknown> {
  const giveUp = agent.clock.monotonic() + START_MS;
  for (;;) {
    const reply = await agent.send("get_task", [task]).catch(() => undefined);
    if (reply !== undefined && "exception" in reply) throw new Error(reply.exception.message);
    if (reply !== undefined && runningId(reply.value) === undefined) return reply.value;
    if (agent.clock.monotonic() > giveUp)
      throw new Error(`the task has not ended after ${START_MS / 1000} s`);
    await agent.clock.sleep(PAUSE_MS);
  }
}

/** Checks that need an agent that may be ended and started again. The last one may leave an agent that does not answer. */
export const RESTART_CHECKS: readonly Check[] = [
  {
    id: "AGENT-START-001",
    number: 44,
    name: "after a reboot the disk is mounted before ping is answered with pong",
    needs: ["restart", "disks"],
    run: async (context) => {
      const { agent, disks } = context;
      const [disk] = given(disks);
      await agent.value("add_persistent_disk", [disk.cid, disk.hint]);
      await agent.value("mount_disk", [disk.cid]);
      await restart(context);
      expectEqual(await agent.value("list_disk"), [disk.cid], "list_disk");
    },
  },
  {
    id: "AGENT-START-002",
    number: 44,
    part: "b",
    name: "after a reboot the jobs run, and pre-start was not run for it",
    needs: ["restart", "base-dir"],
    run: async (context) => {
      const { agent, baseDir } = context;
      const note = join(given(baseDir), "data", "conformance-pre-start");
      const job = daemon(given(baseDir), "web");
      const files = { ...job.files, "bin/pre-start": `#!/bin/bash\necho ran >> ${note}\n` };
      await withJobs(context, [{ ...job, files }], async (base) => {
        await agent.value("run_script", ["pre-start", {}]);
        await agent.value("start");
        await reaches(agent, "running");
        await restart(context);
        await reaches(agent, "running");
        expectTrue(await runs(await pidOf(agent, base, "web")), "web does not run");
        expectEqual(await readFile(note, "utf8"), "ran\n", "what pre-start has noted");
        await rm(note);
      });
    },
  },
  {
    id: "AGENT-START-003",
    number: 46,
    name: "a new certificate is taken up, with or without a restart, and the same task ends with ok",
    needs: ["restart", "https", "next-certificate"],
    run: async ({ https, nextCertificate, certificate }) => {
      const agent = given(https);
      const next = given(nextCertificate);
      const cert = { ca: certificate, certificate: next.cert, private_key: next.key };
      const update = [{ mbus: { cert } }];
      const reply = await agent.send("update_settings", update);
      const task = "value" in reply ? runningId(reply.value) : undefined;
      if (task === undefined) throw new Error("update_settings did not answer with a task");
      expectEqual(await outlived(agent, task), "ok", "the task");
      const { fingerprint256 } = new X509Certificate(next.cert);
      expectEqual(await agent.servedFingerprint(), fingerprint256, "the certificate that is served");
      const before = await passingTask(agent);
      expectEqual(await agent.value("update_settings", update), "ok", "the same once more");
      expectEqual(await agent.value("get_task", [before]), "prepared", "a task from before: no restart");
    },
  },
  {
    id: "AGENT-START-004",
    number: 49,
    name: "an agent whose settings source is gone starts from what it has stored",
    needs: ["restart"],
    run: async (context) => {
      const control = given(context.control);
      await control("source", "away");
      try {
        await restart(context);
      } finally {
        await control("source", "back");
      }
    },
  },
  {
    id: "AGENT-START-006",
    number: 45,
    part: "b",
    name: "two known disks with an association each let a restarted agent answer",
    needs: ["restart", "disks", "machine"],
    run: async (context) => {
      const { agent, disks } = context;
      const associations = given(disks).map(({ cid }, at) => ({ name: `conformance-${at}`, cid }));
      for (const { cid, hint } of given(disks)) await agent.value("add_persistent_disk", [cid, hint]);
      await agent.value("update_settings", [{ disk_associations: associations }]);
      await restart(context);
      await agent.value("update_settings", [{}]);
    },
  },
  {
    id: "AGENT-START-005",
    number: 45,
    name: "two known disks and no association keep a restarted agent from answering",
    needs: ["restart", "disks"],
    run: async (context) => {
      const { agent, disks, control } = context;
      for (const { cid, hint } of given(disks)) await agent.value("add_persistent_disk", [cid, hint]);
      await given(control)("restart", restarted(context));
      expectTrue(!(await pong(agent, SILENCE_MS)), "it answered ping with pong");
    },
  },
];
