import { messageTrail } from "@slipway/kernel/errors";
import { type CpiExecutable, callCpi } from "../exec-cpi.ts";
import type { Journal, MadeThing } from "./journal.ts";
import { cidIn, REMOVAL } from "./journaled-run.ts";

/** VMs first: they hold disks. Stemcells last: VMs are made of them. */
const ORDER = ["delete_vm", "delete_snapshot", "delete_disk", "delete_network", "delete_stemcell"];

export interface Leftover {
  /** `create_vm vm-7`, or what is known of a thing without a cid. */
  readonly thing: string;
  readonly why: string;
}

/**
 * Removes everything in the journal that is still there, with a CPI that keeps the journal. A call without an answer is
 * repeated with its request id if the CPI says in `info` that a repeat makes nothing new. Resolves to what is left.
 */
export async function removeThings(journal: Journal, cpi: CpiExecutable): Promise<readonly Leftover[]> {
  const left: Leftover[] = [];
  const unknown = journal.things.filter(({ cid }) => cid === undefined);
  const repeats = unknown.length > 0 && (await repeatsAreHarmless(cpi));
  for (const thing of unknown) {
    const why = repeats
      ? await settle(thing, cpi)
      : "the call was cut off before it named what it made, and the CPI does not say that a repeat is harmless";
    if (why !== undefined) left.push({ thing: describe(thing), why });
  }
  for (const method of ORDER)
    for (const thing of journal.things.filter((one) => REMOVAL[one.request.method] === method)) {
      if (thing.cid === undefined) continue;
      const why = await remove(thing, method, cpi);
      if (why !== undefined) left.push({ thing: describe(thing), why });
    }
  return left;
}

const describe = ({ request, cid }: MadeThing): string =>
  cid === undefined
    ? `${request.method} of Director ${String(request.context.director_uuid)}, request ${String(request.context.request_id)}`
    : `${cid}, made by ${request.method}`;

async function repeatsAreHarmless(cpi: CpiExecutable): Promise<boolean> {
  const request = { method: "info", arguments: [], context: { director_uuid: "certify" } };
  const reply = await callCpi(cpi, request).catch(() => undefined);
  const info = reply?.result as {
    readonly capabilities?: { readonly repeats_by_request_id?: unknown };
  } | null;
  return info?.capabilities?.repeats_by_request_id === true;
}

async function settle({ request }: MadeThing, cpi: CpiExecutable): Promise<string | undefined> {
  try {
    const { error, result } = await callCpi(cpi, requestAgain(request));
    // The journal has noted either: what failed has left nothing.
    return error !== null || cidIn(result) !== undefined ? undefined : "a repeat of the call named no cid";
  } catch (error) {
    return messageTrail(error);
  }
}

async function remove(thing: MadeThing, method: string, cpi: CpiExecutable): Promise<string | undefined> {
  try {
    const { error } = await callCpi(cpi, {
      ...requestAgain(thing.request),
      method,
      arguments: [thing.cid],
      context: { ...thing.request.context, request_id: `certify-clean-${thing.number}` },
    });
    if (error === null || error.type.endsWith("NotFound")) return undefined;
    return `${method} is refused: ${error.type} ${error.message}`;
  } catch (error) {
    return messageTrail(error);
  }
}

function requestAgain({ method, arguments: args, context, api_version }: MadeThing["request"]) {
  return { method, arguments: args, context, ...(api_version !== undefined && { api_version }) };
}
