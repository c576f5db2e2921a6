import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { ifThere } from "@slipway/kernel/files";
import { check } from "@slipway/protocol/schema/check";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { Unbuildable } from "./errors.ts";

/** Name of a package, which becomes the name of a file. */
const name = v.pipe(
  v.string(),
  v.regex(/^[-0-9A-Za-z_+][-0-9A-Za-z_+.]*$/, "a name may hold letters, digits and - _ + . only"),
);
const names = v.optional(v.nullable(v.array(name)));
const patterns = v.optional(v.nullable(v.array(v.string())));

const specFile = open({
  name,
  dependencies: names,
  files: patterns,
  excluded_files: patterns,
  no_compression: v.optional(v.nullable(v.boolean())),
});
const lockFile = open({
  name,
  fingerprint: v.pipe(v.string(), v.regex(/^[0-9A-Za-z]+$/)),
  dependencies: names,
});

export interface PackageSpec {
  readonly name: string;
  readonly dependencies: readonly string[];
  readonly files: readonly string[];
  readonly excludedFiles: readonly string[];
  readonly noCompression: boolean;
}

export async function readPackageSpec(dir: string): Promise<PackageSpec> {
  const spec = await read(dir, "spec", specFile);
  if (spec === undefined) throw Unbuildable({ why: "it has no spec file" });
  return {
    name: spec.name,
    dependencies: spec.dependencies ?? [],
    files: spec.files ?? [],
    excludedFiles: spec.excluded_files ?? [],
    noCompression: spec.no_compression ?? false,
  };
}

export interface PackageLock {
  readonly name: string;
  readonly fingerprint: string;
  readonly needs: readonly string[];
}

/** Reads the lock of a package that was vendored from another release; undefined for all others. */
export async function readPackageLock(dir: string): Promise<PackageLock | undefined> {
  const lock = await read(dir, "spec.lock", lockFile);
  if (lock === undefined) return undefined;
  return { name: lock.name, fingerprint: lock.fingerprint, needs: lock.dependencies ?? [] };
}

async function read<const S extends v.GenericSchema>(
  dir: string,
  file: string,
  schema: S,
): Promise<v.InferOutput<S> | undefined> {
  const text = await ifThere(readFile(join(dir, file), "utf8"));
  if (text === undefined) return undefined;
  const checked = check(schema, parseYaml(text, file), file);
  if (!checked.ok) throw Unbuildable({ why: checked.problems.join("; ") });
  return checked.value;
}
