import { type CpiRequest, cpiRequest } from "@slipway/protocol/cpi/envelope";
import { check, kindOf } from "@slipway/protocol/schema/check";
import { cpiError } from "./errors.ts";

/** The envelope of a call. Mistakes in it are reported in the words that callers know from older SDKs. */
export function readRequest(input: unknown): CpiRequest {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw cpiError(`Request cannot be deserialized, details: expected an object, got ${kindOf(input)}`);
  }
  const { method, arguments: args, api_version: version, context } = input as Record<string, unknown>;
  if (typeof method !== "string" || method === "")
    throw cpiError(`Method must be a String, got: ${kindOf(method)}`);
  if (!Array.isArray(args)) throw cpiError(`Arguments must be an Array, got: ${kindOf(args)}`);
  if (version !== undefined && !Number.isSafeInteger(version)) {
    throw cpiError(`CPI api_version requested must be an Integer, got: ${kindOf(version)}`);
  }
  if (typeof (context as { director_uuid?: unknown } | null | undefined)?.director_uuid !== "string") {
    throw cpiError("Request should include context with director uuid");
  }
  const checked = check(cpiRequest, input, "request");
  if (!checked.ok) throw cpiError(`Request cannot be deserialized, details: ${checked.problems.join("; ")}`);
  return checked.value;
}
