import { readFile } from "node:fs/promises";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { messageTrail } from "@slipway/kernel/errors";
import type { Problem } from "@slipway/protocol/director/problem";
import { check } from "@slipway/protocol/schema/check";
import { mapOf, open, text } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { NotPlanned, PlanUnreadable } from "./errors.ts";
import type { ChosenResolutions } from "./scan.ts";

const plan = open({
  instance_groups_plan: v.array(
    open({
      name: text("name"),
      max_in_flight_override: v.optional(v.union([v.string(), v.number()])),
      planned_resolutions: mapOf(v.string()),
    }),
  ),
});
/** Recovery plan in upstream's format: the resolution of each type of problem, by instance group. */
export type RecoveryPlan = Readonly<v.InferOutput<typeof plan>>;

export async function readPlan(path: string): Promise<RecoveryPlan> {
  let document: unknown;
  try {
    document = parseYaml(await readFile(path, "utf8"), path);
  } catch (cause) {
    throw PlanUnreadable({ path, why: messageTrail(cause) }, { cause });
  }
  const checked = check(plan, document, "plan");
  if (!checked.ok) throw PlanUnreadable({ path, why: checked.problems.join("; ") });
  return checked.value;
}

/** Groups in the order of their names, as upstream lists them. */
export function byGroup(problems: readonly Problem[]): readonly (readonly [string, readonly Problem[]])[] {
  const groups = new Map<string, Problem[]>();
  for (const one of problems) {
    const name = one.instance_group ?? "";
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
}

export interface AppliedPlan {
  readonly answers: ChosenResolutions;
  readonly overrides: Readonly<Record<string, string>>;
}

/** Applies a plan to the problems found now. A group or type that it does not name is skipped for now. */
export function planned(
  { instance_groups_plan: groups }: RecoveryPlan,
  problems: readonly Problem[],
  path: string,
): AppliedPlan {
  const answers: Record<string, string | null> = {};
  const wrong = new Set<string>();
  for (const { id, type, instance_group, resolutions } of problems) {
    const its = groups.find(({ name }) => name === instance_group)?.planned_resolutions ?? {};
    const name = Object.hasOwn(its, type) ? its[type] : undefined;
    if (name === undefined) continue;
    if (resolutions.some((one) => one.name === name)) answers[id] = name;
    else wrong.add(`${String(name)} is not offered for ${type}`);
  }
  if (wrong.size > 0) throw NotPlanned({ path, what: [...wrong] });
  const overrides = groups.flatMap(({ name, max_in_flight_override: value }) =>
    value === undefined || value === "" ? [] : [[name, String(value)] as const],
  );
  return { answers, overrides: Object.fromEntries(overrides) };
}
