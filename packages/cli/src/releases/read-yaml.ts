import { readFile } from "node:fs/promises";
import { parseYaml, yamlOptions } from "@slipway/engine/documents/yaml";
import { ifThere } from "@slipway/kernel/files";
import { check } from "@slipway/protocol/schema/check";
import type * as v from "valibot";
import { Document, type ToStringOptions } from "yaml";
import { BadReleaseFile } from "./errors.ts";

/** A YAML file of a release directory; undefined when it is not there. An empty one is an empty map. */
export async function readYamlFile<const S extends v.GenericSchema>(
  file: string,
  schema: S,
): Promise<v.InferOutput<S> | undefined> {
  const text = await ifThere(readFile(file, "utf8"));
  if (text === undefined) return undefined;
  const checked = check(schema, parseYaml(text, file) ?? {});
  if (!checked.ok) throw BadReleaseFile({ file, problems: checked.problems });
  return checked.value;
}

const LOOK: ToStringOptions = { indentSeq: false, lineWidth: 0 };

/** Writes YAML as the `bosh` CLI does, so that git shows no false changes: keys in their order, few quotes. */
export const yamlFile = (value: unknown): string =>
  new Document(value, { ...yamlOptions, aliasDuplicateObjects: false }).toString(LOOK);
