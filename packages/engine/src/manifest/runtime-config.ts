import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import { type Fields, fieldsOf, mapsOf } from "../documents/fields.ts";
import { type Report, shown } from "../documents/problems.ts";
import { type Addon, readAddons } from "./addons.ts";
import { checkIdentifier } from "./canonical.ts";
import { readExportedFrom } from "./exported-from.ts";
import type { ManifestRelease } from "./model.ts";
import { isRelative } from "./versions.ts";

const INVALID_VERSION = 530001;
const TAGS_TWICE = 530006;

/** One runtime config. Its addons come from its own releases. */
export interface RuntimeConfig {
  readonly releases: readonly (ManifestRelease & { readonly where: string })[];
  readonly addons: readonly Addon[];
}

export interface RuntimeConfigs {
  readonly configs: readonly RuntimeConfig[];
  /** For all deployments, under their own. */
  readonly tags: JsonObject;
}

const WHERE = "runtime config";

export function readRuntimeConfigs(report: Report, values: readonly unknown[]): RuntimeConfigs {
  const all = values.filter(isObject).map((value) => fieldsOf(report, value, WHERE));
  const tagged = all.filter((fields) => fields.has("tags"));
  const tags = tagged.map((fields) => fields.object("tags"));
  for (const fields of tagged.slice(1))
    fields.wrong(
      TAGS_TWICE,
      "tags",
      "Runtime config 'tags' key cannot be defined in multiple runtime configs.",
      "Keep it in one of them.",
    );
  for (const fields of all) fields.list("variables");
  return { configs: all.map((fields) => readConfig(report, fields)), tags: tags[0] ?? {} };
}

function readConfig(report: Report, fields: Fields): RuntimeConfig {
  const releases = mapsOf(report, fields.list("releases"), `${WHERE} releases`).flatMap((release) => {
    const name = release.needText("name", "Give the release's name.");
    const version = release.needText("version", "Give the version: latest is not for runtime configs.");
    if (name === undefined || version === undefined) return [];
    checkIdentifier(report, name, release.at("name"));
    if (isRelative(version) || version.endsWith("_latest"))
      release.wrong(
        INVALID_VERSION,
        "version",
        `Runtime manifest contains the release '${shown(name)}' with version as '${shown(version)}'. ` +
          "Please specify the actual version string.",
        "What is deployed would change with each upload.",
      );
    const exportedFrom = readExportedFrom(report, release);
    return [{ name, version, ...(exportedFrom.length > 0 && { exportedFrom }), where: release.where }];
  });
  const known = new Set(releases.map(({ name }) => name));
  return {
    releases,
    addons: readAddons(report, fields.list("addons"), `${WHERE} addons`, "runtime", known),
  };
}
