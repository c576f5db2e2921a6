import { CpiLost } from "@slipway/engine/clouds/cloud";
import type { IntentRecord } from "@slipway/engine/flows/journal";
import { strayOf } from "@slipway/engine/flows/settle-create";
import type { Workshop } from "./operation.ts";

/** A create_stemcell that was begun and whose outcome nobody has recorded. */
export async function lastRequest(shop: Workshop, scope: string): Promise<IntentRecord | undefined> {
  return (await shop.journal.openIntents(scope)).at(-1);
}

/** An answer closes it; a CPI that was lost leaves it open, to be asked again. */
export async function rememberRequest(
  shop: Workshop,
  scope: string,
  how: "stray" | "failed",
  intent: IntentRecord,
  error?: unknown,
): Promise<void> {
  if (error instanceof CpiLost) return;
  await shop.journal.close(intent.id, how, (writes) => {
    if (how !== "stray") return;
    writes.addStray(strayOf("stemcell", scope, intent.intent as never));
  });
}
