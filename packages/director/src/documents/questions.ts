import { NotAMap } from "@slipway/engine/documents/errors";
import { placeholdersIn } from "@slipway/engine/documents/placeholders";
import type { PlanProblem } from "@slipway/engine/documents/problems";
import { kindOf, newMap, own, type Tree } from "@slipway/engine/documents/tree";
import { parseYaml, writeYaml } from "@slipway/engine/documents/yaml";
import { jobSchemaProblems } from "@slipway/engine/json-schema/job-schema";
import { configShapeProblems } from "@slipway/engine/manifest/config-shape";
import { checkDeploy } from "@slipway/engine/manifest/deploy-problems";
import { diffManifests } from "@slipway/engine/manifest/diff";
import { redact } from "@slipway/engine/manifest/redact";
import { withReleaseVersions } from "@slipway/engine/manifest/resolve-releases";
import {
  resolveStemcells,
  stemcellsIn,
  withResolvedVersions,
} from "@slipway/engine/manifest/resolve-stemcells";
import type { NetworkRecord, StemcellRecord } from "@slipway/engine/model/records";
import { isResolvedEagerlyInDeploy } from "@slipway/engine/variables/parts";
import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";

/** A manifest or config as text, and what it is called in messages. */
export interface Text {
  readonly text: string;
  readonly what: string;
}

/** One side of a comparison. */
export interface Side {
  /**
   * Main document. Text that is not a map is refused, unless it is `loose`: then what cannot be read any more counts as empty.
   */
  readonly main: Text | { readonly text: string | null | undefined; readonly loose: true };
  /** For a deploy: the configs that stand before the manifest, loosely read. */
  readonly configs?: readonly string[];
  /** For a deploy: `latest` is shown as the version it stands for, so that a newer stemcell shows. */
  readonly stemcells?: readonly StemcellRecord[];
  /** For a deploy: `latest` of releases, in the same way. */
  readonly releases?: readonly { readonly name: string; readonly version: string }[];
}

/** Questions about documents: pure, and answered on any thread. Answers are small, or text. */
export const questions = {
  /** The whole of it. */
  value: ({ text, what }: Text): unknown => parseYaml(text, what),
  /** Returns some keys of a document, which must be a map. */
  keys: ({ text, what, keys }: Text & { readonly keys: readonly string[] }): Tree => {
    const map = mapOf({ text, what });
    return Object.fromEntries(keys.map((key) => [key, own(map, key)]));
  },
  /** Returns what no deploy could read in a config of this type. */
  shapeProblems: ({ type, text, what }: Text & { readonly type: string }): readonly PlanProblem[] =>
    configShapeProblems(type, parseYaml(text, what)),
  /** The same text again without what is secret in it. */
  redacted: ({ text, what }: Text): string => writeYaml(redact(parseYaml(text, what))),
  /** The lines of a comparison, as JSON. */
  difference: (asked: { readonly before: Side; readonly after: Side; readonly redact: boolean }): string => {
    const after = sideOf(asked.after);
    return JSON.stringify(diffManifests(sideOf(asked.before), after, { redact: asked.redact }));
  },
  /** Returns why a deploy of the manifest would be refused, as far as the documents show. */
  problems: (asked: {
    readonly manifest: Text;
    readonly cloudConfigs: readonly string[];
    readonly runtimeConfigs: readonly string[];
    readonly stemcells: readonly StemcellRecord[];
    readonly teams: readonly string[];
    /** Networks that CPIs have created; undefined if the Director manages no networks. */
    readonly managedNetworks?: readonly NetworkRecord[] | undefined;
    readonly ignoreMissingGateway?: boolean | undefined;
  }): readonly PlanProblem[] => {
    const given = {
      manifest: mapOf(asked.manifest),
      cloudConfigs: asked.cloudConfigs.map(looseMap),
      runtimeConfigs: asked.runtimeConfigs.map(looseMap),
    };
    // Only a deploy knows the values of variables, and what is wrong with them.
    if (usesVariables(given)) return [];
    const { stemcells, teams, managedNetworks: made, ignoreMissingGateway } = asked;
    const managedNetworks = made && new Map(made.map((network) => [network.name, network]));
    const checked = checkDeploy({ ...given, stemcells, teams, managedNetworks, ignoreMissingGateway });
    return checked.ok ? [] : checked.problems;
  },
  /** Returns how properties violate the schema of their job. */
  propertyProblems: (asked: { readonly schema: Json; readonly properties: JsonObject }): readonly string[] =>
    jobSchemaProblems(asked.schema, asked.properties),
} as const;

const usesVariables = (documents: {
  readonly manifest: Tree;
  readonly cloudConfigs: readonly Tree[];
  readonly runtimeConfigs: readonly Tree[];
}): boolean => placeholdersIn(documents, isResolvedEagerlyInDeploy).size > 0;

export type Questions = typeof questions;

function mapOf({ text, what }: Text): Tree {
  const value = parseYaml(text, what);
  if (isObject(value)) return value;
  throw NotAMap({ what, found: kindOf(value) });
}

function looseMap(text: string | null | undefined): Tree {
  try {
    const value = text ? parseYaml(text, "the document") : undefined;
    return isObject(value) ? value : newMap();
  } catch {
    return newMap();
  }
}

function sideOf({ main, configs = [], stemcells = [], releases = [] }: Side): Tree {
  const map = "loose" in main ? looseMap(main.text) : mapOf(main);
  return withReleaseVersions(merged([...configs.map(looseMap), resolved(map, stemcells)]), releases);
}

/** A manifest with its configs, as a deploy sees them: lists one after the other, of everything else the last. */
function merged(documents: readonly Tree[]): Tree {
  const all = newMap();
  for (const document of documents) {
    for (const [key, value] of Object.entries(document)) {
      const before = all[key];
      all[key] = Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value;
    }
  }
  return all;
}

function resolved(manifest: Tree, stemcells: readonly StemcellRecord[]): Tree {
  if (stemcells.length === 0) return manifest;
  // One by one: the version of one is shown also when another is not there.
  const found = stemcellsIn(manifest).flatMap((wanted) => {
    const one = resolveStemcells([wanted], stemcells);
    return one.ok ? one.stemcells : [];
  });
  const document = withResolvedVersions(manifest, found);
  return isObject(document) ? document : manifest;
}
