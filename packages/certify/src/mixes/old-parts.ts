import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { MixOf8 } from "../matrix/mixes.ts";

/**
 * Makes an old part of a new one, on the wire between Director and CPI. An old Director says nothing of versions, VMs and
 * registries. An old CPI reads none of that, and its info has no version. Both have the registry in the CPI's own
 * configuration.
 */

/** The request as a Director of this age sends it. */
export const sentBy = (director: MixOf8["director"], request: CpiRequest): CpiRequest =>
  director === 1 ? withoutNews(request) : request;

/** Returns a request as a CPI of this age reads it. */
export const readBy = (cpi: MixOf8["cpi"], request: CpiRequest): CpiRequest =>
  cpi === 1 ? withoutNews(request) : request;

/** The reply of a CPI of this age. */
export function saidBy(cpi: MixOf8["cpi"], { method }: CpiRequest, reply: CpiResponse): CpiResponse {
  if (cpi === 2 || method !== "info" || reply.error !== null) return reply;
  const { stemcell_formats } = reply.result as { readonly stemcell_formats?: unknown };
  return { ...reply, result: { stemcell_formats } as unknown as NonNullable<CpiResponse["result"]> };
}

function withoutNews({ api_version: _, ...request }: CpiRequest): CpiRequest {
  const { vm: __, registry: ___, ...context } = request.context;
  return { ...request, context };
}
