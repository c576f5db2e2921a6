import { join } from "node:path";
import { json, mapOf, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { NoReleaseDirectory } from "./errors.ts";
import { readYamlFile } from "./read-yaml.ts";

const blobstore = v.optional(
  v.nullable(
    open({ provider: v.optional(v.nullable(v.string())), options: v.optional(v.nullable(mapOf(json()))) }),
  ),
);
const publicConfig = open({
  name: v.optional(v.nullable(v.string())),
  final_name: v.optional(v.nullable(v.string())),
  blobstore,
  no_compression: v.optional(v.nullable(v.boolean())),
});
const privateConfig = open({ blobstore });

/** `config/final.yml`, with what `config/private.yml` adds to it. */
export interface ReleaseConfig {
  readonly name: string | undefined;
  readonly noCompression: boolean;
  readonly provider: string | undefined;
  readonly options: Readonly<Record<string, unknown>>;
}

export const finalFile = (dir: string): string => join(dir, "config", "final.yml");

export async function readConfig(dir: string): Promise<ReleaseConfig> {
  const shown = (await readYamlFile(finalFile(dir), publicConfig)) ?? {};
  const hidden = await readYamlFile(join(dir, "config", "private.yml"), privateConfig);
  const { name, final_name } = shown;
  if (name && final_name)
    throw NoReleaseDirectory({ dir, why: "config/final.yml has both name and final_name" });
  return {
    name: name || final_name || undefined,
    noCompression: shown.no_compression ?? false,
    provider: shown.blobstore?.provider ?? undefined,
    options: { ...shown.blobstore?.options, ...hidden?.blobstore?.options },
  };
}

export function nameIn(config: ReleaseConfig, dir: string): string {
  if (config.name === undefined)
    throw NoReleaseDirectory({ dir, why: "Expected non-empty 'name' in config 'config/final.yml'" });
  return config.name;
}
