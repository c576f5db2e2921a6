import type { About, StepSubject } from "@slipway/engine/steps/step";
import { STEPS, type StepName } from "@slipway/engine/steps/steps";
import type { OpenStage, Stages } from "./stages.ts";

/** Runs a flow and prints its steps: each ends where the next begins. Steps that only change records are not printed. */
export async function printSteps(
  stages: Stages,
  about: About,
  flow: (progress: (step: StepName, subject: StepSubject) => void) => Promise<void>,
): Promise<void> {
  let current: OpenStage | undefined;
  try {
    await flow((step, { instance }) => {
      current?.finished();
      const line = STEPS[step].line?.(instance, about);
      current = line === undefined ? undefined : stages.begin(line);
    });
    current?.finished();
  } catch (error) {
    current?.failed();
    throw error;
  }
}
