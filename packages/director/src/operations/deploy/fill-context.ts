import { unpinned } from "@slipway/engine/documents/pins";
import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";
import type { DeployVariables } from "./variables.ts";

/**
 * What templates see, with the values of its variables. A link of another deployment speaks of that one's variables. Those in
 * `cloud_properties` of networks are for the CPI only: templates see their names, as upstream.
 */
export async function fillContext(
  context: JsonObject,
  { late, lateOf }: Pick<DeployVariables, "late" | "lateOf">,
): Promise<JsonObject> {
  const { links = {}, networks, ...own } = context;
  const mine: Record<string, Json> = {};
  const others: Record<string, Json> = {};
  for (const [name, link] of Object.entries(isObject(links) ? (links as JsonObject) : {})) {
    const of = isObject(link) ? link.deployment_name : undefined;
    if (typeof of !== "string" || of === context.deployment) mine[name] = link;
    else others[name] = await lateOf(of, link as JsonObject);
  }
  const filled = await late({ ...own, links: mine });
  return {
    ...filled,
    ...(networks !== undefined && { networks: unpinned(networks) as Json }),
    links: { ...(filled.links as JsonObject), ...others },
  };
}
