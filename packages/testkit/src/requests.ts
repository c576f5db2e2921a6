import { type CpiResponse, cpiResponse } from "@slipway/protocol/cpi/envelope";
import { CPI_ERRORS, type CpiErrorName } from "@slipway/protocol/cpi/errors";
import { check } from "@slipway/protocol/schema/check";
import { expect } from "vitest";

export const DIRECTOR = "5f0c1b9e-0d3a-4a52-8f58-2b0a8a5e1c11";

export interface CpiRequestParts {
  /** `api_version`; left out when undefined. */
  readonly version?: number | undefined;
  readonly stemcell?: number | undefined;
  readonly requestId?: string | undefined;
  /** Merged last, like the properties of a CPI config. */
  readonly context?: object;
}

/** A request as a Director writes it: registry-less and without a request id unless told otherwise. */
export function ask(method: string, args: readonly unknown[], asked: CpiRequestParts = {}): object {
  const version = "version" in asked ? asked.version : 2;
  const stemcell = "stemcell" in asked ? asked.stemcell : 2;
  return {
    method,
    arguments: args,
    context: {
      director_uuid: DIRECTOR,
      ...(asked.requestId !== undefined && { request_id: asked.requestId }),
      ...(stemcell !== undefined && { vm: { stemcell: { api_version: stemcell } } }),
      ...asked.context,
    },
    ...(version !== undefined && { api_version: version }),
  };
}

export const NETWORKS = {
  private: {
    type: "manual",
    ip: "10.0.4.9",
    netmask: "255.255.255.0",
    gateway: "10.0.4.1",
    dns: ["10.0.0.2"],
    default: ["dns", "gateway"],
    cloud_properties: { net: "n-1" },
  },
} as const;

export const AGENT = "8a1c0d8e-31c5-4c63-9f0e-0d0f6f5d7a42";

/** The six arguments of create_vm. */
export const vmArgs = (cloudProperties: object = {}, env: unknown = {}): readonly unknown[] => [
  AGENT,
  "stemcell-1",
  cloudProperties,
  NETWORKS,
  [],
  env,
];

/** Error types a real caller has a meaning for: all the Director's, and the one only the CLI knows. */
const KNOWN: readonly CpiErrorName[] = [
  "CpiError",
  "NotImplemented",
  "NotSupported",
  "CloudError",
  "VMNotFound",
  "NetworkNotFound",
  "NoDiskSpace",
  "DiskNotAttached",
  "DiskNotFound",
  "VMCreationFailed",
  "StemcellNotFound",
];
export const KNOWN_TYPES = KNOWN.map((name): string => CPI_ERRORS[name].type);

export const typeOf = (name: CpiErrorName): string => CPI_ERRORS[name].type;

/** Checks what every reply must be, whatever was asked. */
export function wellFormed(reply: unknown): CpiResponse {
  const checked = check(cpiResponse, reply, "reply");
  if (!checked.ok) throw new Error(`not a reply: ${checked.problems.join("; ")}`);
  const { result, error, log } = checked.value;
  expect(Object.keys(reply as object).sort()).toEqual(["error", "log", "result"]);
  expect(typeof log).toBe("string");
  if (error !== null) {
    expect(result).toBeNull();
    expect(KNOWN_TYPES).toContain(error.type);
    expect(error.message).toMatch(/\S/);
    expect(Object.keys(error).sort()).toEqual(["message", "ok_to_retry", "type"]);
  }
  return checked.value;
}

/** The result of a call that must have worked. */
export function resultOf(reply: unknown): unknown {
  const { result, error } = wellFormed(reply);
  if (error !== null) throw new Error(`${error.type}: ${error.message}`);
  return result;
}

/** The error of a call that must have failed. */
export function errorOf(reply: unknown): NonNullable<CpiResponse["error"]> {
  const { result, error } = wellFormed(reply);
  if (error === null) throw new Error(`it worked: ${JSON.stringify(result)}`);
  return error;
}
