import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { answer, type CallEnvironment } from "./answer-request.ts";
import { propertiesOf } from "./config.ts";
import type { Cpi } from "./cpi.ts";

export interface CpiClient {
  /** One call, checked both ways like the executable's. Never rejects: failures are in the reply. */
  readonly request: (request: unknown) => Promise<CpiResponse>;
}

/** A CPI in this process: the same answers as the executable, without starting one. */
export function embed(
  cpi: Cpi,
  options: Omit<CallEnvironment, "properties"> & { readonly config?: JsonObject } = {},
): CpiClient {
  const { config, ...around } = options;
  const surroundings: CallEnvironment = { ...around, properties: () => propertiesOf(config ?? {}) };
  return { request: (request) => answer(cpi, request, surroundings) };
}
