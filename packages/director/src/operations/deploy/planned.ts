import { problemsError } from "@slipway/engine/documents/problems";
import type { Plan, PlanInput } from "@slipway/engine/plan/model";
import { plan } from "@slipway/engine/plan/plan";

export function planned(input: PlanInput): Plan {
  const result = plan(input);
  if (!result.ok) throw problemsError("this cannot be deployed", result.problems);
  return result.plan;
}
