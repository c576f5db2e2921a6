import { resurrectionConfig } from "@slipway/protocol/director/resurrection";
import { check } from "@slipway/protocol/schema/check";
import { isObject } from "@slipway/protocol/schema/json";
import { WRONG_TYPE } from "../documents/fields.ts";
import { newReport, type PlanProblem } from "../documents/problems.ts";
import { parseCloudConfig } from "./cloud-config.ts";
import { readRuntimeConfigs } from "./runtime-config.ts";

/**
 * Returns what no deploy could read in a config, whatever the other configs and variables say: values of another kind, such
 * as `addons: 5`. What is missing or names something unknown is for a deploy to judge.
 */
export function configShapeProblems(type: string, value: unknown): readonly PlanProblem[] {
  const known = withoutVariables(value);
  switch (type) {
    case "cloud": {
      const parsed = parseCloudConfig([known]);
      return parsed.ok ? [] : parsed.problems.filter(isOfShape);
    }
    case "runtime": {
      const report = newReport();
      readRuntimeConfigs(report, [known]);
      return report.problems.filter(isOfShape);
    }
    case "resurrection": {
      // Nothing interpolates it.
      const checked = check(resurrectionConfig, value, "resurrection config");
      if (checked.ok) return [];
      const fix = "Write rules: [{enabled: false, include: {deployments: [a]}}].";
      return checked.problems.map((problem) => ({ code: WRONG_TYPE, where: "", problem, fix }));
    }
    default:
      return [];
  }
}

const isOfShape = ({ code }: PlanProblem): boolean => code === WRONG_TYPE;

const isVariable = (value: unknown): boolean => typeof value === "string" && /^\(\([^()]*\)\)$/.test(value);

/** The document without values that are variables as a whole: those may be of any kind. */
function withoutVariables(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !isVariable(item)).map(withoutVariables);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, item]) => !isVariable(item));
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutVariables(item)]));
}
