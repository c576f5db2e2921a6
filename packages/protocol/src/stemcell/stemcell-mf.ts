import * as v from "valibot";
import { check } from "../schema/check.ts";
import { identifier, integer, jsonObject, keyText, open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

const LONGEST = 255;

/** A YAML scalar where upstream wants a string and takes a number (`version: 12`). */
const stringish = (what: string) =>
  v.union([identifier(what, LONGEST), v.number()], `${what} is a string or a number`);

/** `stemcell.MF`, after YAML. */
export const stemcellManifest = open({
  name: doc(identifier("name", LONGEST), "series name, unique per IaaS flavour"),
  version: doc(stringish("version"), "quote it in YAML: `1.10` is a number there"),
  operating_system: v.optional(doc(keyText("operating_system"), "default: the name")),
  sha1: doc(v.string(), "digest of the image file: sha1 hex, `sha256:...`, or several joined with `;`"),
  bosh_protocol: v.optional(v.union([v.string(), v.number()])),
  api_version: v.optional(doc(integer(1, "api_version"), "what its agent understands; absent means 1")),
  stemcell_formats: v.optional(v.array(v.string())),
  cloud_properties: v.optional(doc(jsonObject(), "given verbatim to create_stemcell")),
});

export interface Stemcell {
  readonly name: string;
  readonly version: string;
  readonly operatingSystem: string;
  readonly digest: string;
  /** Missing in the manifest means 1. */
  readonly apiVersion: number;
  /** Undefined: the stemcell does not say, so any CPI may try it. */
  readonly formats: readonly string[] | undefined;
  readonly cloudProperties: v.InferOutput<ReturnType<typeof jsonObject>>;
}

export type ParsedStemcell =
  | { readonly ok: true; readonly stemcell: Stemcell }
  | { readonly ok: false; readonly problems: readonly string[] };

export function readStemcellManifest(value: unknown): ParsedStemcell {
  const checked = check(stemcellManifest, value, "stemcell.MF");
  if (!checked.ok) return checked;
  const mf = checked.value;
  return {
    ok: true,
    stemcell: {
      name: mf.name,
      version: String(mf.version),
      operatingSystem: mf.operating_system ?? mf.name,
      digest: mf.sha1,
      apiVersion: mf.api_version ?? 1,
      formats: mf.stemcell_formats,
      cloudProperties: mf.cloud_properties ?? {},
    },
  };
}
