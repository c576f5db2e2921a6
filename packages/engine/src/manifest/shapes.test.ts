import { cloudConfig } from "@slipway/protocol/manifest/cloud-config";
import { deploymentManifest } from "@slipway/protocol/manifest/deployment-manifest";
import { check } from "@slipway/protocol/schema/check";
import { isObject } from "@slipway/protocol/schema/json";
import type { Schema } from "@slipway/protocol/schema/marks";
import { untold } from "@slipway/protocol/schema/told";
import { describe, expect, it } from "vitest";
import { applyOps } from "../documents/ops.ts";
import { parseYaml } from "../documents/yaml.ts";
import { parseCloudConfig } from "./cloud-config.ts";
import { parseManifest } from "./deployment.ts";
import { CLOUD, SHOP } from "./testing/documents.ts";

const VALUES = [
  null,
  "",
  " ",
  "x",
  "z1",
  "10.4.0.5",
  0,
  1,
  -1,
  2.5,
  true,
  [],
  ["x"],
  [null],
  [["10.4.0.200"], "10.4.0.201"],
  [{}],
  {},
  { x: 1 },
];

/** Every place of a document, as a path of operations. */
function* places(value: unknown, at = ""): Generator<string> {
  const entries = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  for (const [key, inner] of entries) {
    yield `${at}/${key}`;
    yield* places(inner, `${at}/${key}`);
  }
}

describe.each<[string, string, Schema, (value: unknown) => { readonly ok: boolean }]>([
  ["a deployment manifest", SHOP, deploymentManifest, parseManifest],
  ["a cloud config", CLOUD, cloudConfig, (value) => parseCloudConfig([value])],
])("the shape of %s", (_, text, schema, parse) => {
  const document = parseYaml(text, "the document");

  it("names every key of it", () => {
    expect(parse(document).ok).toBe(true);
    expect(untold(schema, document)).toEqual([]);
  });

  it("lets through whatever the parser takes", () => {
    const differ: string[] = [];
    let taken = 0;
    for (const path of places(document)) {
      for (const value of VALUES) {
        const changed = applyOps(document, [{ type: "replace", path, value }], "the change");
        if (!parse(changed).ok) continue;
        taken += 1;
        const checked = check(schema, changed);
        if (!checked.ok) differ.push(`${path} ${JSON.stringify(value)}: ${checked.problems.join("; ")}`);
      }
    }
    expect(differ).toEqual([]);
    expect(taken).toBeGreaterThan(100);
  });
});
