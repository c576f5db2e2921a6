import { writeYaml } from "@slipway/engine/documents/yaml";
import { readStemcellManifest } from "@slipway/protocol/stemcell/stemcell-mf";

/** The keys that upstream knows, in its order. No other survives a repack. */
const KEYS = [
  "name",
  "version",
  "operating_system",
  "sha1",
  "bosh_protocol",
  "api_version",
  "stemcell_formats",
  "cloud_properties",
] as const;

export type ManifestFields = Readonly<Partial<Record<(typeof KEYS)[number], unknown>>>;

export type WrittenManifest =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The text of a `stemcell.MF`, or what is wrong with it. */
export function writeManifest(fields: ManifestFields): WrittenManifest {
  const known = KEYS.flatMap((key) => (fields[key] === undefined ? [] : [[key, fields[key]] as const]));
  const manifest = Object.fromEntries(known);
  const parsed = readStemcellManifest(manifest);
  return parsed.ok ? { ok: true, text: `---\n${writeYaml(manifest)}` } : parsed;
}
