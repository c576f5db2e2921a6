import type { RuleResult } from "../report/receipt.ts";
import type { CheckOutcome } from "./check.ts";
import { AGENT_AREAS, AGENT_RULES } from "./rules.ts";

/** Returns the outcomes as results of a receipt, in the order of the rules. */
export function resultsOf(outcomes: readonly CheckOutcome[]): readonly RuleResult[] {
  const order = Object.keys(AGENT_RULES);
  return outcomes.map(resultOf).sort((one, other) => order.indexOf(one.id) - order.indexOf(other.id));
}

function resultOf(outcome: CheckOutcome): RuleResult {
  const { id, name } = outcome.check;
  const { area, level } = AGENT_RULES[id];
  const common = {
    id,
    title: name,
    area: AGENT_AREAS[area],
    level,
    milliseconds: Math.round(outcome.milliseconds),
  };
  switch (outcome.result) {
    case "passed":
      return { ...common, verdict: "passed" };
    case "not run":
      return { ...common, verdict: "not run", reason: outcome.why };
    case "differs":
      // A rule that every agent must keep is not excused by a decision.
      return level === "core"
        ? { ...common, verdict: "failed", reason: `it differs by decision: ${outcome.why}` }
        : { ...common, verdict: "not applicable", reason: `it differs by decision: ${outcome.why}` };
    case "failed":
      return { ...common, verdict: "failed", reason: outcome.why, conversation: outcome.conversation };
  }
}
