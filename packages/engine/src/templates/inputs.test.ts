import { fileURLToPath } from "node:url";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { sealerOf } from "@slipway/kernel/sealer";
import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";
import { bundle } from "@slipway/testkit/bundle";
import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { BlobId } from "../blobs/blobs.ts";
import { type JobInputs, templateInputs } from "./inputs.ts";
import { isFailure } from "./request.ts";
import { rubyFile } from "./ruby-module.ts";
import { CONTEXT } from "./testing/constructs.ts";
import { WasmRenderer } from "./wasm-renderer.ts";

const sealerWith = (byte: number) => sealerOf(Buffer.alloc(32, byte), systemRandom);
const { keyedHash } = sealerWith(1);
const JOB = { name: "web", version: "1", fingerprint: "f", digest: "sha256:ab", blobId: "b-1" as BlobId };
const INPUTS: JobInputs = {
  job: JOB,
  context: CONTEXT,
  provides: [{ name: "web", type: "http", group: "1" }],
};

const hashOf = (context: JsonObject): string => templateInputs([{ ...INPUTS, context }], "ruby", keyedHash);

type Path = readonly (string | number)[];

/** Paths of all values, including hashes and lists themselves. */
function pathsIn(value: Json, at: Path = []): readonly Path[] {
  const inside = Array.isArray(value)
    ? value.flatMap((one, index) => pathsIn(one, [...at, index]))
    : isObject(value)
      ? Object.entries(value as JsonObject).flatMap(([key, one]) => pathsIn(one, [...at, key]))
      : [];
  return at.length === 0 ? inside : [at, ...inside];
}

/** A copy with another value at a path; undefined removes it. */
function changedAt<T extends Json>(value: T, [key, ...rest]: Path, to: Json | undefined): T {
  if (key === undefined) return to as T;
  const copy = structuredClone(value) as Record<string | number, Json>;
  if (rest.length > 0) copy[key] = changedAt(copy[key] as Json, rest, to);
  else if (to !== undefined) copy[key] = to;
  else if (Array.isArray(copy)) copy.splice(Number(key), 1);
  else delete copy[key];
  return copy as T;
}

/** Looks at everything that a binding has: `spec` and `properties` reach all that was given, links by all their methods. */
const EVERYTHING = `<%= [name, index, raw_properties, spec.marshal_dump.inspect, properties.to_h.inspect].to_json %>
<%= JSON.generate(@given) %>
<% %w[db manual short new].each do |key| %><% if_link(key) do |one| %>
<%= [one.properties, (one.address rescue $!.message), (one.address(azs: %w[z1 z2]) rescue $!.message)].to_json %>
<% one.instances.each do |i| %><%= [i.name, i.index, i.id, i.az, i.address, i.bootstrap, i.properties].to_json %>
<% end %><% end %><% end %>`;

/** Contexts that differ from `CONTEXT` at one path, and make the template show something else. */
const seen: { readonly path: string; readonly context: JsonObject }[] = [];

beforeAll(async () => {
  const worker = await bundle(fileURLToPath(new URL("./render-worker.ts", import.meta.url)), {
    format: "esm",
  });
  const ruby = rubyFile(import.meta.url);
  const pool = new WasmRenderer({ worker, ruby, clock: systemClock, threads: 1, limit: 119_000 });
  const renderer = pool.open();
  const templates = [{ name: "t", source: Buffer.from(EVERYTHING) }];
  const { signal } = new AbortController();
  const shown = async (context: JsonObject): Promise<string> => {
    const [one] = await renderer.render({ dialect: "director", context, templates }, signal);
    if (one === undefined || isFailure(one)) return one?.message ?? "nothing";
    return Buffer.from(one.text).toString();
  };
  const before = await shown(CONTEXT);
  for (const path of pathsIn(CONTEXT))
    for (const to of ["another value", undefined]) {
      const context = changedAt(CONTEXT, path, to);
      if ((await shown(context)) !== before) seen.push({ path: path.join("."), context });
    }
  await pool.close();
});

/** Paths whose change a template shows and a hash does not. */
function missedBy(hash: (context: JsonObject) => string): readonly string[] {
  const before = hash(CONTEXT);
  return seen.filter(({ context }) => hash(context) === before).map(({ path }) => path);
}

describe("the hash of what templates see", () => {
  it("changes with each value that a template can show", () => {
    expect(missedBy(hashOf)).toEqual([]);
    expect(seen.length).toBeGreaterThan(2 * pathsIn(CONTEXT).length - 5);
  });

  it.each(["name", "az", "networks", "links", "properties", "persistent_disk", "release"])(
    "is seen to miss changes by this check if '%s' is left out of it",
    (field) => {
      const missed = missedBy(({ [field]: _, ...context }) => hashOf(context));
      expect(missed).toContain(field);
    },
  );

  it("changes with any change of any context", () => {
    const context = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(context, context, (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other);
        expect(hashOf(one) === hashOf(other)).toBe(same);
      }),
      { numRuns: tries(500) },
    );
  });

  it("changes with the order of keys, which templates see", () => {
    expect(hashOf({ a: 1, b: 2 })).not.toBe(hashOf({ b: 2, a: 1 }));
  });

  it("changes with the renderer, each part of the job's identity, its links, and further jobs", () => {
    const other = (job: Partial<JobInputs["job"]>) =>
      templateInputs([{ ...INPUTS, job: { ...JOB, ...job } }], "ruby", keyedHash);
    const all = [
      hashOf(CONTEXT),
      templateInputs([INPUTS], "another ruby", keyedHash),
      ...Object.keys(JOB).map((key) => other({ [key]: "another" })),
      templateInputs([{ ...INPUTS, provides: [] }], "ruby", keyedHash),
      templateInputs([INPUTS, INPUTS], "ruby", keyedHash),
      templateInputs([], "ruby", keyedHash),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it("needs the key: short secrets cannot be tried without it", () => {
    expect(templateInputs([INPUTS], "ruby", sealerWith(2).keyedHash)).not.toBe(hashOf(CONTEXT));
    expect(templateInputs([INPUTS], "ruby", sealerWith(1).keyedHash)).toBe(hashOf(CONTEXT));
  });
});
