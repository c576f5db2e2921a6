import { API_VERSIONS, type ApiVersion } from "@slipway/protocol/cpi/api-version";
import { capabilities } from "@slipway/protocol/cpi/capabilities";
import { cpiContext } from "@slipway/protocol/cpi/context";
import { cpiRequest, cpiResponse } from "@slipway/protocol/cpi/envelope";
import { argsIn, existsIn, type Method, resultIn } from "@slipway/protocol/cpi/method";
import { CPI_METHOD_NAMES, methodNamed } from "@slipway/protocol/cpi/methods";
import { registrySettingsReply, registryStatusReply } from "@slipway/protocol/registry/documents";
import { check } from "@slipway/protocol/schema/check";
import type { Schema } from "@slipway/protocol/schema/marks";
import { agentSettings, updateSettings } from "@slipway/protocol/settings/agent-settings";
import { diskHintWire } from "@slipway/protocol/settings/disk-hint";
import { disks } from "@slipway/protocol/settings/disks";
import { env } from "@slipway/protocol/settings/env";
import { network } from "@slipway/protocol/settings/networks";
import { persistentDiskHints } from "@slipway/protocol/settings/persistent-disk-hints";
import { readUserData, registryUserData } from "@slipway/protocol/settings/user-data";
import { stemcellManifest } from "@slipway/protocol/stemcell/stemcell-mf";

/** Every schema that stands for a document or a part with a name, as the example files name them. */
export const DOCUMENTS: Readonly<Record<string, Schema>> = {
  request: cpiRequest,
  response: cpiResponse,
  context: cpiContext,
  capabilities,
  network,
  env,
  disks,
  "disk-hint": diskHintWire,
  "agent-settings": agentSettings,
  "update-settings": updateSettings,
  "registry-user-data": registryUserData,
  "persistent-disk-hints": persistentDiskHints,
  "settings-reply": registrySettingsReply,
  "status-reply": registryStatusReply,
  "stemcell-mf": stemcellManifest,
};

/** Problems of a value; none if it fits. */
export type SchemaProblems = readonly string[];

export const fits = (schema: Schema, value: unknown, root = ""): SchemaProblems => {
  const checked = check(schema, value, root);
  return checked.ok ? [] : checked.problems;
};

/** The arguments of a call, by position: as many as the version has, each as its schema says. */
export function argumentsFit(method: Method, version: ApiVersion, values: unknown): SchemaProblems {
  if (!Array.isArray(values)) return ["arguments: expected an array"];
  const wanted = argsIn(method, version);
  if (values.length !== wanted.length)
    return [`arguments: expected ${wanted.length} of them, got ${values.length}`];
  return wanted.flatMap((argument, at) => fits(argument.schema, values[at], `arguments[${at}]`));
}

export const resultFits = (method: Method, version: ApiVersion, value: unknown): SchemaProblems =>
  fits(resultIn(method, version).schema, value, "result");

/** Every method with every version that has it. */
export const METHOD_VERSIONS: readonly (readonly [ApiVersion, Method])[] = API_VERSIONS.flatMap((version) =>
  CPI_METHOD_NAMES.map((name) => methodOf(name))
    .filter((method) => existsIn(method, version))
    .map((method) => [version, method] as const),
);

export function methodOf(name: string): Method {
  const method = methodNamed(name);
  if (method === undefined) throw new Error(`there is no method ${name}`);
  return method;
}

/** Judges a value by a schema named as in the example files: a document, or `v2/create_vm/result`. */
export function judge(name: string, value: unknown): SchemaProblems {
  const ofMethod = /^v([123])\/(\w+)\/(arguments|result)$/.exec(name);
  if (ofMethod !== null) {
    const version = Number(ofMethod[1]) as ApiVersion;
    const method = methodOf(ofMethod[2] ?? "");
    if (!existsIn(method, version)) return [`version ${version} has no ${method.name}`];
    return ofMethod[3] === "result"
      ? resultFits(method, version, value)
      : argumentsFit(method, version, value);
  }
  if (name === "user-data") {
    const read = readUserData(value);
    return read.ok ? [] : read.problems;
  }
  const schema = Object.hasOwn(DOCUMENTS, name) ? DOCUMENTS[name] : undefined;
  if (schema === undefined) throw new Error(`there is no schema ${name}`);
  return fits(schema, value);
}
