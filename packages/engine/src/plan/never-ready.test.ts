import type { AgentId } from "@slipway/protocol/ids";
import { describe, expect, it } from "vitest";
import { agentEnvMark } from "../model/agent-env-mark.ts";
import type { PlanInput, PlanOptions } from "./model.ts";
import { plan } from "./plan.ts";
import { group, manifest } from "./testing/builders.ts";
import { deployed, inputFor, next, stepsOf, type Vm, type World } from "./testing/world.ts";

const MADE_AT = 50;
const ENV = { ntp: ["a"] };

const wanted = (options: Partial<PlanOptions> = {}, agentEnv = ENV) => ({
  manifest: manifest([group("web", 1)]),
  options,
  director: {
    name: "d",
    enableCpiResizeDisk: false,
    enableCpiUpdateDisk: false,
    agentEnv,
  } satisfies PlanInput["director"],
});

/** An instance whose VM was made, and whose agent has never been ready. */
function waiting(more: Partial<Vm>): World {
  const world = deployed(wanted());
  for (const instance of world.instances)
    for (const vm of instance.vms)
      Object.assign(vm, {
        createdAt: MADE_AT,
        ready: false,
        agentEnv: agentEnvMark(ENV, vm.agentId as AgentId),
        ...more,
      });
  return world;
}

const AGAIN = "set_vm_metadata wait_for_agent activate_vm prepare_agent";
const ANEW = `delete_unused_vm create_vm ${AGAIN}`;

describe("a VM that is not in use and was never ready", () => {
  it.each([
    ["waited for again", {}, AGAIN],
    ["replaced with --recreate", { recreate: true }, ANEW],
    ["replaced with --fix", { fix: true }, ANEW],
    ["replaced with --fix that was asked for later", { fix: true, askedAt: 60 }, ANEW],
    ["gone on with by the --fix that has made it", { fix: true, askedAt: 40 }, AGAIN],
    [
      "gone on with by the --recreate that has made it",
      { recreate: true, recreateVmsCreatedBefore: 40 },
      AGAIN,
    ],
    [
      "replaced where it is recreated",
      { state: { group: "web", instance: "0", to: "recreate" as const } },
      ANEW,
    ],
  ])("is %s", (_, options: Partial<PlanOptions>, early) => {
    expect(stepsOf(next(waiting({ active: false }), wanted(options))).early).toBe(early);
  });

  it("is replaced if the env of all agents has changed, and kept if its env was not recorded", () => {
    const other = wanted({}, { ntp: ["b"] });
    expect(stepsOf(next(waiting({ active: false }), other)).early).toBe(ANEW);
    expect(stepsOf(next(waiting({ active: false, agentEnv: undefined }), other)).early).toBe(AGAIN);
  });

  it("is used without waiting once it is ready, whatever was asked for", () => {
    const made = next(waiting({ active: false, ready: true }), wanted({ fix: true }));
    expect(stepsOf(made).early).toBe("activate_vm");
  });
});

describe("a VM in use that was never ready and does not answer", () => {
  const silent = () => {
    const world = waiting({});
    for (const { uuid } of world.instances) world.silent.add(uuid);
    return world;
  };

  it("needs --fix, or --recreate, or another agent.env", () => {
    const outcome = (given: ReturnType<typeof wanted>) => {
      const made = plan(inputFor(silent(), given));
      return made.ok ? stepsOf(made.plan).late.split(" ")[0] : made.problems.map(({ code }) => code);
    };
    expect(outcome(wanted())).toEqual([450002]);
    expect(outcome(wanted({ fix: true }))).toBe("delete_vm");
    expect(outcome(wanted({ recreate: true }))).toBe("delete_vm");
    expect(outcome(wanted({}, { ntp: ["b"] }))).toBe("delete_vm");
  });

  it("needs --fix when it was ready before", () => {
    const world = silent();
    for (const { vms } of world.instances) for (const vm of vms) vm.ready = true;
    expect(plan(inputFor(world, wanted({ recreate: true }))).ok).toBe(false);
  });
});

describe("a VM in use whose agent answers", () => {
  it("is not replaced because of agent.env once it was ready, and is before", () => {
    const other = wanted({}, { ntp: ["b"] });
    const late = (more: Partial<Vm>) => stepsOf(next(waiting(more), other)).late;
    expect(late({ ready: true })).toBe("");
    expect(late({})).toContain("delete_vm create_vm");
  });
});
