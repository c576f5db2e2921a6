import { vm } from "@slipway/testkit/vm-record";
import { expect, it } from "vitest";
import type { InstanceUuid } from "../model/names.ts";
import type { InstanceRecord } from "../model/records.ts";
import type { InstancePlan } from "../plan/model.ts";
import type { FlowContext } from "../steps/context.ts";
import type { StepName } from "../steps/steps.ts";
import { runInstance } from "./run-instance.ts";

/** Takes the steps on an instance with a VM, while agents of new VMs cannot be reached. Returns the calls that were made. */
async function run(steps: readonly StepName[]) {
  const calls: string[] = [];
  const called = (name: string) => () => Promise.resolve(void calls.push(name));
  const vms = [{ id: 1, ...vm("vm-1", { active: true, ready: true }) }];
  const instance = { uuid: "u", group: "db", index: 0, ips: [], disks: [], vms } as unknown as InstanceRecord;
  const context = {
    journal: {
      taskId: 1,
      newNumber: () => 1,
      commit: () => Promise.resolve(),
      instance: () => Promise.resolve(instance),
    },
    deployment: "shop",
    random: { hex: () => "00", uuid: () => "00" },
    clock: { now: () => 0 },
    settings: { directorName: "d" },
    signal: new AbortController().signal,
    debug: () => undefined,
    cpiLog: () => undefined,
    audit: () => Promise.resolve(),
    agents: { ready: () => Promise.reject(new Error("no connection to NATS")) },
    clouds: { cloud: () => ({ deleteVm: called("delete_vm"), setVmMetadata: called("set_vm_metadata") }) },
  } as unknown as FlowContext;
  const plan = {
    action: "recreate",
    changes: [],
    steps: steps.map((name) => ({ name, reason: "" })),
    desired: { tags: {} },
  } as unknown as InstancePlan;
  const failure = await runInstance({ uuid: "u" as InstanceUuid, plan, watchMs: null }, context).catch(
    (error: unknown) => String(error),
  );
  return { calls, failure };
}

it("touches no VM of an instance that is to get another one while agents of new VMs cannot be reached", async () => {
  expect(await run(["delete_vm", "create_vm"])).toEqual({
    calls: [],
    failure: expect.stringContaining("no connection to NATS"),
  });
});

it("changes an instance that keeps its VM all the same", async () => {
  expect(await run(["set_vm_metadata"])).toEqual({ calls: ["set_vm_metadata"], failure: undefined });
});
