import { type CallOptions, type Cloud, refusedAs } from "@slipway/engine/clouds/cloud";
import { newRequestId } from "@slipway/engine/steps/calls";
import type { FlowContext } from "@slipway/engine/steps/context";
import { SeveralHave } from "./errors.ts";

/**
 * Returns the CPI of something that is not recorded: of several, the one that knows its cid. Throws if two know it. If none says
 * so it is the Director's own, which may not be able to say.
 */
export async function whoHas(
  cid: string,
  ask: (cloud: Cloud, options: CallOptions) => Promise<boolean>,
  context: FlowContext,
): Promise<string> {
  const { clouds, signal, cpiLog: log } = context;
  const own = clouds.nameOf("");
  if (!clouds.configured) return own;
  const found: string[] = [];
  for (const cpi of new Set([...clouds.names, own]))
    if (await knows(() => ask(clouds.cloud(cpi), { requestId: newRequestId(context), signal, log })))
      found.push(cpi);
  if (found.length > 1) throw SeveralHave({ cid, cpis: found });
  return found[0] ?? own;
}

async function knows(ask: () => Promise<boolean>): Promise<boolean> {
  try {
    return await ask();
  } catch (error) {
    if (refusedAs(error, "NotImplemented", "NotSupported")) return false;
    throw error;
  }
}
