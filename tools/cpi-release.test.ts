import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cpiAws } from "@slipway/cpi-aws/cpi-aws";
import { cpiDocker } from "@slipway/cpi-docker/cpi-docker";
import { cpiLocal } from "@slipway/cpi-local/cpi-local";
import { sharedProperties } from "@slipway/cpi-sdk/config";
import { embed } from "@slipway/cpi-sdk/embed";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { bindProperties } from "@slipway/engine/templates/bind-properties";
import { isFailure, type Renderer } from "@slipway/engine/templates/request";
import { rubyFile } from "@slipway/engine/templates/ruby-module";
import { WasmRenderer } from "@slipway/engine/templates/wasm-renderer";
import { systemClock } from "@slipway/kernel/clock";
import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";
import type { Schema } from "@slipway/protocol/schema/marks";
import { bundle } from "@slipway/testkit/bundle";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** Keys that no property of a job sets, each with the reason. */
const NOT_PROPERTIES = new Map([
  ["registry.user", "another spelling of registry.username, for configuration files written by hand"],
  ["local.agent", "the release's own package has the agent"],
]);

const RELEASES = [
  { cpi: cpiLocal, job: "packages/cpi-local/release", needed: { local: { dir: "/cloud" } } },
  { cpi: cpiDocker, job: "packages/cpi-docker/release", needed: { docker: { dir: "/cloud" } } },
  { cpi: cpiAws, job: "packages/cpi-aws/release", needed: { aws: { region: "us-east-1" } } },
];
/** Properties that are another name of the one that is set: upstream's manifests have them. */
const OTHER_NAMES = ["ntp"];
const REGISTRY = { host: "10.0.0.6", username: "admin", password: "p@ss: word" };

let pool: WasmRenderer;
let renderer: Renderer;
beforeAll(async () => {
  const source = new URL("../packages/engine/src/templates/render-worker.ts", import.meta.url);
  const worker = await bundle(fileURLToPath(source), { format: "esm" });
  const ruby = rubyFile(new URL("../packages/engine/src/templates/x.ts", import.meta.url).href);
  pool = new WasmRenderer({ worker, ruby, clock: systemClock, threads: 1, limit: 119_000 });
  renderer = pool.open();
});
afterAll(() => pool.close());

/** Renders cpi.json as a Director does: a template sees only the properties its job declares. */
async function configFile(job: string, properties: JsonObject): Promise<JsonObject> {
  const source = await readFile(join(job, "templates/cpi.json.erb"));
  const templates = [{ name: "cpi.json.erb", source }];
  const context = { properties: bindProperties(await declaredBy(job), properties) };
  const { signal } = new AbortController();
  const [found] = await renderer.render({ dialect: "director", context, templates }, signal);
  if (found === undefined || isFailure(found)) throw new Error(found?.message);
  return JSON.parse(Buffer.from(found.text).toString()) as JsonObject;
}

async function declaredBy(job: string): Promise<Map<string, Json | undefined>> {
  const spec = parseYaml(await readFile(join(job, "spec"), "utf8"), "spec") as {
    readonly properties: Readonly<Record<string, { readonly default?: Json }>>;
  };
  return new Map(Object.entries(spec.properties).map(([name, one]) => [name, one.default]));
}

/** Names of all keys that a schema reads, with dots between levels. */
function keysOf(schema: Schema, prefix = ""): string[] {
  if ("wrapped" in schema) return keysOf(schema.wrapped as Schema, prefix);
  if (!("entries" in schema)) {
    const parts = "pipe" in schema ? (schema.pipe as readonly Schema[]) : [];
    const inner = parts.find((part) => part !== schema && ("entries" in part || "wrapped" in part));
    return inner === undefined ? [prefix] : keysOf(inner, prefix);
  }
  const entries = Object.entries(schema.entries as Readonly<Record<string, Schema>>);
  return entries.flatMap(([key, one]) => keysOf(one, prefix === "" ? key : `${prefix}.${key}`));
}

const nested = (values: ReadonlyMap<string, Json>): JsonObject =>
  [...values].reduce<JsonObject>((whole, [name, value]) => put(whole, name.split("."), value), {});

function put(into: JsonObject, [key = "", ...rest]: readonly string[], value: Json): JsonObject {
  const there = isObject(into[key]) ? (into[key] as JsonObject) : {};
  return { ...into, [key]: rest.length === 0 ? value : put(there, rest, value) };
}

const valueAt = (whole: JsonObject, name: string): unknown =>
  name.split(".").reduce<unknown>((found, key) => (isObject(found) ? found[key] : undefined), whole);

const isSet = (names: Iterable<string>, key: string) =>
  [...names].some((name) => key === name || key.startsWith(`${name}.`));

describe.each(RELEASES)("the job of $job", ({ cpi, job, needed }) => {
  const info = { method: "info", arguments: [], context: { director_uuid: "d" } };

  it("has a property for every key of the configuration that the CPI reads", async () => {
    const declared = await declaredBy(job);
    const keys = [...keysOf(cpi.config, cpi.name), ...keysOf(sharedProperties)];
    expect(keys).toContain("debug.cpi.api_version");
    const missing = keys.filter((key) => !isSet(declared.keys(), key) && !NOT_PROPERTIES.has(key));
    expect(missing).toEqual([]);
  });

  it("writes every property into the CPI's configuration", async () => {
    const names = [...(await declaredBy(job)).keys()].filter((name) => !OTHER_NAMES.includes(name));
    const values = new Map<string, Json>(names.map((name) => [name, `value of ${name}`]));
    const file = await configFile(job, nested(values));
    expect(names.map((name) => [name, valueAt(file, name)])).toEqual([...values]);
  });

  it("lowers the reported version by debug.cpi.api_version", async () => {
    const reported = async (properties: JsonObject) => {
      const config = await configFile(job, { ...needed, ...properties });
      return (await embed(cpi, { config }).request(info)).result;
    };
    expect(await reported({})).toMatchObject({ api_version: 3 });
    expect(await reported({ debug: { cpi: { api_version: 1 } } })).toMatchObject({ api_version: 1 });
  });

  it("writes the registry with upstream's port unless another is given, and leaves it out otherwise", async () => {
    const registry = async (properties: JsonObject) =>
      (await configFile(job, { ...needed, ...properties })).registry;
    expect(await registry({})).toBeUndefined();
    expect(await registry({ registry: REGISTRY })).toEqual({ ...REGISTRY, port: 25777 });
    expect(await registry({ registry: { ...REGISTRY, port: 6901 } })).toEqual({ ...REGISTRY, port: 6901 });
    const endpoint = "https://registry.example:8443";
    expect(await registry({ registry: { endpoint } })).toMatchObject({ endpoint });
  });
});
