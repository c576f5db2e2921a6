import { CONTEXT_KEYS, type CpiContext } from "@slipway/protocol/cpi/context";
import { check } from "@slipway/protocol/schema/check";
import { isObject, type Json, type JsonObject, jsonObject, open, text } from "@slipway/protocol/schema/json";
import { hidden, type Schema, secret } from "@slipway/protocol/schema/marks";
import { blobstore } from "@slipway/protocol/settings/env";
import * as v from "valibot";
import { BadConfig } from "./errors.ts";

const registrySection = open({
  // Only the password in it is a secret: a message about an unreachable registry must say which one.
  endpoint: v.optional(hidden(text("registry.endpoint"))),
  host: v.optional(text("registry.host")),
  port: v.optional(v.union([v.number(), v.string()])),
  user: v.optional(v.string()),
  username: v.optional(v.string()),
  password: v.optional(secret(v.string())),
});

/** Merged by the SDK over the settings of every agent. */
const agentSection = open({
  mbus: v.optional(v.nullable(secret(v.string()))),
  ntp: v.optional(v.nullable(v.array(v.string()))),
  blobstore: v.optional(v.nullable(blobstore)),
});

const debugSection = open({
  cpi: v.optional(v.nullable(open({ api_version: v.optional(v.nullable(v.number())) }))),
});

/** The sections every CPI of this SDK has; the CPI's own section stands beside them under its name. */
export const sharedProperties = open({
  registry: v.optional(v.nullable(registrySection)),
  agent: v.optional(v.nullable(agentSection)),
  debug: v.optional(v.nullable(debugSection)),
});

const SHARED_SECTIONS = ["registry", "agent", "debug"];

export type AgentSection = v.InferOutput<typeof agentSection>;

export interface RegistryOfAgents {
  /** With the credentials in it: what an agent is given. */
  readonly endpoint: string;
}

export interface SharedConfig {
  readonly registry: RegistryOfAgents | undefined;
  readonly agent: AgentSection;
}

/** `cpi.json` as BOSH jobs write it (`cloud.properties`), or the properties at top level. */
export function propertiesOf(file: unknown): JsonObject {
  const whole = checked(jsonObject(), file, "configuration file");
  const cloud = whole.cloud;
  if (!isObject(cloud) || !("properties" in cloud)) return whole;
  return checked(jsonObject(), cloud.properties, "cloud.properties");
}

/** A CPI config's properties arrive flat in the context. The SDK's own sections are merged, the rest is the CPI's. */
export function mergeContext(properties: JsonObject, section: string, context: CpiContext): JsonObject {
  const given = Object.entries(context).filter(([key]) => !CONTEXT_KEYS.includes(key)) as [string, Json][];
  const merged: Record<string, Json> = { ...properties };
  const own: Record<string, Json> = { ...asObject(properties[section]) };
  for (const [key, value] of given) {
    if (SHARED_SECTIONS.includes(key))
      merged[key] = isObject(value) ? { ...asObject(properties[key]), ...value } : value;
    else if (key === section && isObject(value)) Object.assign(own, value);
    else own[key] = value;
  }
  return { ...merged, [section]: own };
}

export function readShared(properties: JsonObject): SharedConfig {
  const shared = checked(sharedProperties, properties, "properties");
  return {
    registry: registryAccess(shared.registry ?? undefined),
    agent: shared.agent ?? {},
  };
}

/**
 * Reads the version to which `debug.cpi.api_version` lowers `info`. It is read separately, so that `info` answers
 * however broken the other sections are.
 */
export function readReportedVersion(properties: JsonObject): number | undefined {
  const debug = checked(v.optional(v.nullable(debugSection)), properties.debug, "debug");
  return debug?.cpi?.api_version ?? undefined;
}

export function readOwn<const S extends Schema>(
  schema: S,
  properties: JsonObject,
  section: string,
): v.InferOutput<S> {
  const value = asObject(properties[section]);
  checked(schema, value, section);
  // Not the value that was checked: an author's schema may have defaults.
  return v.parse(schema, value);
}

function registryAccess(
  section: v.InferOutput<typeof registrySection> | undefined,
): RegistryOfAgents | undefined {
  if (section === undefined) return undefined;
  const base =
    section.endpoint ?? (section.host === undefined ? undefined : `${section.host}:${section.port ?? 25777}`);
  if (base === undefined) return undefined;
  let url: URL;
  try {
    url = new URL(/^https?:\/\//.test(base) ? base : `http://${base}`);
  } catch (error) {
    throw BadConfig({ what: "registry", problems: ["registry.endpoint is not a URL"] }, { cause: error });
  }
  const user = section.username ?? section.user;
  if (user !== undefined) url.username = encodeURIComponent(user);
  if (section.password !== undefined) url.password = encodeURIComponent(section.password);
  return { endpoint: url.href.replace(/\/$/, "") };
}

function checked<const S extends Schema>(schema: S, value: unknown, what: string): v.InferOutput<S> {
  const result = check(schema, value, what);
  if (!result.ok) throw BadConfig({ what, problems: result.problems });
  return result.value;
}

const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
