import { CpiRefused } from "@slipway/engine/clouds/cloud";
import { causeOf } from "@slipway/engine/flows/errors";
import type { FlowContext } from "@slipway/engine/steps/context";

/**
 * Asks a CPI to delete what the task has claimed. The claim is given up only if the CPI refused the only call that was made:
 * after a lost call, now or in an earlier task (`again`), a refusal says nothing about that call.
 */
export async function deleteClaimed(
  claim: { readonly again: boolean },
  context: FlowContext,
  deletion: (context: FlowContext) => Promise<void>,
  release: () => Promise<void>,
): Promise<void> {
  let lost = claim.again;
  const interrupted = () => {
    lost = true;
  };
  try {
    await deletion({ ...context, interrupted });
  } catch (error) {
    if (causeOf(error) instanceof CpiRefused && !lost) await release();
    throw error;
  }
}
