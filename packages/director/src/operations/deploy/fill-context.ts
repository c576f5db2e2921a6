import { unpinned } from "@slipway/engine/documents/pins";
import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";
import type { DeployVariables } from "./variables.ts";

/**
 * Returns what templates see, with the values of its variables. A link of another deployment uses that deployment's variables.
 * Those in `cloud_properties` of networks are for the CPI only: templates see their names, as upstream.
 */
export async function fillContext(
  context: JsonObject,
  { late, lateOf }: Pick<DeployVariables, "late" | "lateOf">,
): Promise<JsonObject> {
  const { networks, ...own } = context;
  const { mine, foreign } = linksIn(context);
  const others: Record<string, Json> = {};
  for (const { name, deployment, link } of foreign) others[name] = await lateOf(deployment, link);
  const filled = await late({ ...own, links: mine });
  return {
    ...filled,
    ...(networks !== undefined && { networks: unpinned(networks) as Json }),
    links: { ...(filled.links as JsonObject), ...others },
  };
}

/** Pins the variables of what templates will see, without rendering them. */
export async function pinContext(
  context: JsonObject,
  { pinForLater }: Pick<DeployVariables, "pinForLater">,
): Promise<void> {
  const { networks: _, ...own } = context;
  await pinForLater({ ...own, links: linksIn(context).mine });
}

interface ForeignLink {
  readonly name: string;
  /** The deployment that provides the link. */
  readonly deployment: string;
  readonly link: JsonObject;
}

/** Splits links by whose variables they speak of. */
function linksIn({ links = {}, deployment: own }: JsonObject): {
  readonly mine: JsonObject;
  readonly foreign: readonly ForeignLink[];
} {
  const mine: Record<string, Json> = {};
  const foreign: ForeignLink[] = [];
  for (const [name, link] of Object.entries(isObject(links) ? (links as JsonObject) : {})) {
    const of = isObject(link) ? link.deployment_name : undefined;
    if (typeof of !== "string" || of === own) mine[name] = link;
    else foreign.push({ name, deployment: of, link: link as JsonObject });
  }
  return { mine, foreign };
}
