import type { Json, JsonObject } from "@slipway/protocol/schema/json";
import { display } from "../model/names.ts";
import { STEPS } from "../steps/steps.ts";
import type { GroupPlan, InstancePlan, Plan, PlannedStep, StepCondition } from "./model.ts";

/** Effects on instances in the order of the summary: sign, title and word of the totals. */
const EFFECTS: readonly (readonly [InstancePlan["action"], sign: string, title: string, total: string])[] = [
  ["delete", "-", "Delete", "to delete"],
  ["create", "+", "Create", "to create"],
  ["recreate", "-/+", "Recreate: a new VM, the same disks", "to recreate"],
  ["update", "~", "Update in place", "to update"],
  ["stop", "~", "Stop", "to stop"],
  ["detach", "-", "Stop and delete the VM, keep the disks", "to detach"],
  ["metadata", "~", "Write new tags", "to tag"],
];

/** A plan as an operator reads it: one line for each instance, by effect, and totals; with `steps`, each step and its calls. */
export function describePlan(plan: Plan, { steps = false } = {}): readonly string[] {
  return [
    ...(steps ? describeSteps(plan) : summarize(plan)),
    totalsOf(plan),
    ...plan.notes.map((note) => `Note: ${note}.`),
  ];
}

/** Returns each changed instance once: a new one gets its VM first, and is part of its group's update too. */
function changedIn(plan: Plan): readonly InstancePlan[] {
  const groups = plan.groups
    .flat()
    .flatMap(({ surplus, batches }) => [...surplus, ...batches.flatMap(({ instances }) => instances)]);
  const byName = new Map([...plan.obsolete, ...groups, ...plan.missingVms].map((one) => [nameOf(one), one]));
  return [...byName.values()].filter(({ action }) => action !== "none");
}

function summarize(plan: Plan): readonly string[] {
  const changed = changedIn(plan);
  return EFFECTS.flatMap(([action, sign, title]) => {
    const instances = changed.filter((one) => one.action === action);
    return instances.length === 0 ? [] : [title, ...instances.map((one) => summaryOf(one, sign))];
  });
}

const summaryOf = ({ changes, downtime, ...instance }: InstancePlan, sign: string): string => {
  const reasons = changes.map(({ reason }) => reason).join("; ");
  const down = downtime === undefined ? "no downtime" : `down ${downtime}`;
  return `  ${sign} ${nameOf(instance)}: ${reasons === "" ? "" : `${reasons}; `}${down}`;
};

function totalsOf(plan: Plan): string {
  const changed = changedIn(plan);
  const parts = EFFECTS.flatMap(([action, , , total]) => {
    const count = changed.filter((one) => one.action === action).length;
    return count === 0 ? [] : [`${count} ${total}`];
  });
  const instances = (count: number) => `${count} instance${count === 1 ? "" : "s"} unchanged`;
  const unchanged = unchangedIn(plan);
  if (parts.length === 0)
    return unchanged === 0 ? "Nothing to change." : `Nothing to change: ${instances(unchanged)}.`;
  return `Plan: ${[...parts, ...(unchanged > 0 ? [instances(unchanged)] : [])].join(", ")}.`;
}

function describeSteps(plan: Plan): readonly string[] {
  const lines: string[] = [];
  const section = (title: string, instances: readonly InstancePlan[]) => {
    if (instances.length > 0) lines.push(title, ...instances.flatMap(describeInstance));
  };
  section("Deleting unneeded instances", plan.obsolete);
  section("Creating missing vms", plan.missingVms);
  for (const together of plan.groups) {
    const busy = together.filter(isBusy);
    if (busy.length > 1) lines.push(`At the same time: ${busy.map(({ group }) => group).join(", ")}`);
    for (const group of busy) {
      section(`Deleting surplus instances of '${group.group}', ${group.maxInFlight} at once`, group.surplus);
      for (const batch of group.batches)
        section(
          `Updating ${batch.canary ? "canaries of " : ""}'${group.group}', ${batch.maxInFlight} at once`,
          batch.instances,
        );
    }
  }
  return lines;
}

/** The same for programs. Names and reasons only: properties and env may hold secrets. */
export function planAsJson(plan: Plan): JsonObject {
  return {
    obsolete: plan.obsolete.map(instanceJson),
    missing_vms: plan.missingVms.map(instanceJson),
    groups: plan.groups.map((together) => together.map(groupJson)),
    unchanged: unchangedIn(plan),
    stemcells: plan.stemcells.map(({ name, version, cpi }) => ({ name, version, cpi })),
    notes: [...plan.notes],
  };
}

const isBusy = ({ surplus, batches }: GroupPlan): boolean => surplus.length > 0 || batches.length > 0;

function unchangedIn(plan: Plan): number {
  const changed = plan.groups.flat().flatMap(({ batches }) => batches.flatMap(({ instances }) => instances));
  return plan.desired.length - changed.length;
}

function describeInstance(instance: InstancePlan): readonly string[] {
  return [
    `  ${nameOf(instance)}: ${instance.action}`,
    ...instance.changes.map(({ reason }) => `    why: ${reason}`),
    `    down: ${instance.downtime ?? "no"}`,
    ...instance.steps.map((step) => {
      const calls = callsOf(step, instance);
      const when = step.condition === undefined ? "" : `, ${CONDITIONS[step.condition]}`;
      return `    ${step.name}${calls.length === 0 ? "" : ` [${calls.join(", ")}]`}${when}: ${step.reason}`;
    }),
  ];
}

function callsOf({ name }: PlannedStep, { skipDrain }: InstancePlan): readonly string[] {
  const { calls, drainCalls = [] } = STEPS[name];
  return skipDrain ? calls.filter((call) => !drainCalls.includes(call)) : calls;
}

const CONDITIONS: Readonly<Record<StepCondition, string>> = {
  cpi_cannot_change_disk: "only if the CPI cannot change the disk",
  cpi_cannot_change_named_disk: "only if the CPI cannot change the disk",
  new_agent_unusable: "only if the agent of the new VM cannot be used",
};

const nameOf = ({ desired, recorded }: Pick<InstancePlan, "desired" | "recorded">): string => {
  const one = desired ?? recorded;
  return one === undefined ? "?" : display(one);
};

const groupJson = ({ group, surplus, batches, maxInFlight }: GroupPlan): Json => ({
  group,
  max_in_flight: maxInFlight,
  surplus: surplus.map(instanceJson),
  batches: batches.map((batch) => ({
    canary: batch.canary,
    max_in_flight: batch.maxInFlight,
    instances: batch.instances.map(instanceJson),
  })),
});

const instanceJson = (instance: InstancePlan): Json => ({
  instance: nameOf(instance),
  action: instance.action,
  changes: instance.changes.map(({ kind, reason }) => ({ kind, reason })),
  downtime: instance.downtime ?? null,
  steps: instance.steps.map((step) => ({
    name: step.name,
    calls: [...callsOf(step, instance)],
    reason: step.reason,
    ...(step.condition !== undefined && { condition: step.condition }),
  })),
});
