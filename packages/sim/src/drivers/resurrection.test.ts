import type { NewTask } from "@slipway/director/tasks/task";
import { AgentSilent, WrongAgent } from "@slipway/engine/agents/agent";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import { DEPLOY, problemsStage } from "./testing/problems-stage.ts";
import type { Interference } from "./watch-clients.ts";

sampleTests(1 / 4);

const { stage, task, run, scan, db, whole, lose, deaf } = problemsStage();

const heal = async (): Promise<NewTask> =>
  task("cck_scan_and_fix", { instances: [(await db()).instance.uuid] });
const vmsOfDb = async () =>
  (await stage.bench.remembered()).instances.filter(({ group }) => group === "db").flatMap(({ vms }) => vms);

describe("a resurrection of a VM that is gone", () => {
  const others: Readonly<Record<string, () => Promise<NewTask>>> = {
    "stop --hard": async () =>
      task("update_instance", {
        group: "db",
        instance: (await db()).instance.uuid,
        action: "stop",
        hard: true,
        skip_drain: true,
        ignore_unresponsive_agent: true,
      }),
    "delete-vm": async () => task("delete_vm", { vm_cid: (await db()).vm.cid }),
    "a deploy": () => Promise.resolve(DEPLOY),
    "another resurrection": heal,
  };
  const races = Object.keys(others).flatMap((name) => [
    { name, first: "it" as const },
    { name, first: "the other" as const },
  ]);

  it.each(races)("beside $name, $first queued first, leaves everything whole", async ({ name, first }) => {
    const other = await others[name]?.();
    if (other === undefined) throw new Error("bug: no such race");
    const resurrection = await heal();
    lose((await db()).vm.cid);
    const tasks = first === "it" ? [resurrection, other] : [other, resurrection];
    const ended = await stage.bench.runAll(tasks, { seed: `${name} ${first}` });
    expect(await stage.bench.broken()).toEqual([]);
    expect(stage.bench.lost()).toEqual([]);
    // Who does not get the lock in time says so; nothing else may go wrong. A deploy without --fix does not touch silent VMs.
    const failures = ended.filter(({ state }) => state === "error").map(({ message }) => message);
    for (const message of failures)
      expect(message).toMatch(/Failed to acquire lock|is locked|does not answer/);
    const [stopped] = ended.filter((_, at) => tasks[at] === other);
    if (name === "stop --hard" && stopped?.state === "done") {
      expect(await vmsOfDb()).toEqual([]);
      expect((await run(resurrection)).changing).toEqual([]);
      expect(await vmsOfDb()).toEqual([]);
      return;
    }
    // In any order, a further resurrection finds what is left to do, and then nothing.
    expect((await run(resurrection)).state).toBe("done");
    expect(await whole()).toEqual([]);
    expect((await run(resurrection)).changing).toEqual([]);
    expect((await run(DEPLOY)).changing).toEqual([]);
  });
});

describe("a resurrection that fails half-way", () => {
  it("is not taken for done because the new agent answers, and goes on", async () => {
    const { vm } = await db();
    lose(vm.cid);
    const refuse: Interference = {
      cpi: ({ method }, carryOut) => {
        if (method !== "attach_disk") return carryOut();
        const error = { type: "Bosh::Clouds::CloudError", message: "no room", ok_to_retry: false };
        return Promise.resolve({ result: null, error, log: "" });
      },
    };
    const resurrection = await heal();
    expect((await run(resurrection, refuse)).state).toBe("error");
    expect(await scan()).not.toContain("missing_vm db/0");
    expect((await run(resurrection)).state).toBe("done");
    expect(await whole()).toEqual([]);
    expect((await run(DEPLOY)).changing).toEqual([]);
    expect(await stage.bench.db.selectFrom("resurrections").selectAll().execute()).toEqual([]);
  });

  it("leaves a failed update to the next deploy, as long as its VM answers", async () => {
    const { instance } = await db();
    await stage.bench.db
      .updateTable("instances")
      .set({ update_completed: false })
      .where("uuid", "=", instance.uuid)
      .execute();
    expect((await run(await heal())).changing).toEqual([]);
  });
});

describe("a VM whose agent cannot be asked", () => {
  const untrusted = (agentId: string): Interference => ({
    ask: (call, carryOut) =>
      call.peer === "agent" && call.agentId === agentId
        ? Promise.reject(
            new WrongAgent("its certificate is not of this Director's authority", {
              cause: Object.assign(new Error("self-signed"), { code: "SELF_SIGNED_CERT_IN_CHAIN" }),
            }),
          )
        : carryOut(),
  });

  it("is not replaced because of its certificate while the cloud has it", async () => {
    const { vm } = await db();
    const { state, changing } = await run(await heal(), untrusted(vm.agentId));
    expect({ state, changing }).toEqual({ state: "done", changing: [] });
    expect((await db()).vm.cid).toBe(vm.cid);
  });

  it("is replaced if its certificate is wrong and the cloud lacks it: another VM has its address", async () => {
    const { vm } = await db();
    lose(vm.cid);
    expect((await run(await heal(), untrusted(vm.agentId))).state).toBe("done");
    expect((await db()).vm.cid).not.toBe(vm.cid);
    expect(await whole()).toEqual([]);
  });

  it("is replaced if it is silent, unless it answers again when the task looks", async () => {
    const { vm } = await db();
    expect((await run(await heal())).changing).toEqual([]);
    expect((await run(await heal(), deaf(vm.agentId))).state).toBe("done");
    expect((await db()).vm.cid).not.toBe(vm.cid);
    expect(await whole()).toEqual([]);
  });
});

describe("a new VM whose agent never answers", () => {
  it("is reported with its state in the cloud, the address and certificate of its agent, and its log", async () => {
    const { vm } = await db();
    lose(vm.cid);
    const { message } = await run(await heal(), {
      ask: ({ method }, carryOut) =>
        method === "ping"
          ? Promise.reject(new AgentSilent("nobody takes the connection; next: look"))
          : carryOut(),
    });
    expect(message).toMatch(
      /Timed out pinging VM '[^']+' with agent '[^']+' after \d+ seconds: the cloud has the VM, its agent should listen at sim:\/\/agent, its certificate lasts until \d{4}-\d\d-\d\d, .*nobody takes the connection; next: look/,
    );
    expect(message).toMatch(
      /next: look\. The VM's log ends with: agent [0-9a-f-]+ has begun\. The VM is deleted;/,
    );
  });
});
