import type { CallIntent } from "./calls.ts";
import type { Stray } from "./journal.ts";
import { cloudOf, type FlowContext, type Settled } from "./step.ts";

/**
 * What became of a create call nobody saw the end of: a CPI that remembers requests is asked again, with another the
 * thing may exist without our knowing its cid.
 */
export async function settleCreate<I extends CallIntent, O>(
  kind: Stray["kind"],
  about: string,
  intent: I,
  create: (intent: I, context: FlowContext) => Promise<O>,
  context: FlowContext,
): Promise<Settled<O>> {
  const { repeatable } = await cloudOf(context, intent.cpi).info({ signal: context.signal });
  if (repeatable) return { how: "done", outcome: await create(intent, context) };
  return { how: "stray", stray: strayOf(kind, about, intent) };
}

export const strayOf = (
  kind: Stray["kind"],
  about: string,
  intent: Pick<CallIntent, "cpi" | "requestId">,
): Stray => ({
  kind,
  cpi: intent.cpi,
  requestId: intent.requestId,
  about,
  why: `create_${kind} was under way when the Director or the CPI ended; this CPI cannot be asked what became of it`,
});
