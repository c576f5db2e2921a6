import { isObject } from "@slipway/protocol/schema/json";
import { kindOf, newMap, own, type Tree } from "../documents/tree.ts";
import { GENERATION_MODES, type GenerationMode } from "./config-server.ts";
import { type LinkedName, linkedNames } from "./consumes.ts";
import { BadVariables } from "./errors.ts";
import { absoluteName, checkDefinedName, type Scope } from "./names.ts";

/** An entry of `variables`. */
export interface Definition {
  /** Absolute name. */
  readonly name: string;
  /** Name as the manifest writes it. */
  readonly written: string;
  readonly type: string;
  readonly options: Tree;
  readonly mode: GenerationMode;
  /** `on-stemcell-change`: the version of the last deploy is kept until all stemcells are others. */
  readonly strategy: "on-deploy" | "on-stemcell-change";
  /** Names that it takes from links. */
  readonly consumes: readonly LinkedName[];
}

export interface Definers {
  readonly manifest: unknown;
  readonly runtimeConfigs: readonly unknown[];
}

/** Returns the variables that a deploy generates: the manifest's, then those of the runtime configs. */
export function definitionsOf({ manifest, runtimeConfigs }: Definers, scope: Scope): readonly Definition[] {
  const mode = converges(manifest) ? "converge" : "no-overwrite";
  const all = [manifest, ...runtimeConfigs].flatMap((document) =>
    entriesOf(document).map((entry) => read(entry, mode, scope)),
  );
  const seen = new Set<string>();
  for (const { name } of all) {
    if (seen.has(name))
      throw BadVariables({ why: `Some of the variables have duplicate names, eg: '${name}'` });
    seen.add(name);
  }
  return all;
}

function converges(manifest: unknown): boolean {
  const features = isObject(manifest) ? own(manifest, "features") : undefined;
  return isObject(features) && own(features, "converge_variables") === true;
}

function entriesOf(document: unknown): readonly Tree[] {
  const list = isObject(document) ? own(document, "variables") : undefined;
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list))
    throw BadVariables({ why: `Key 'variables' expects an array, but received ${kindOf(list)}` });
  return list.map((item: unknown) => {
    if (!isObject(item)) throw BadVariables({ why: "All 'variables' elements should be Hashes" });
    return item;
  });
}

function read(entry: Tree, fallback: GenerationMode, scope: Scope): Definition {
  const name = own(entry, "name");
  if (typeof name !== "string" || name.trim() === "")
    throw BadVariables({
      why: "At least one of the variables is missing the 'name' key; 'name' must be specified",
    });
  checkDefinedName(name);
  const bad = (why: string) => BadVariables({ why });
  const type = own(entry, "type");
  if (type === undefined) throw bad(`Type for variable '${name}' is missing; 'type' must be specified`);
  if (typeof type !== "string")
    throw bad(`Type for variable '${name}' must be a String, but was ${kindOf(type)}`);
  if (type.trim() === "") throw bad(`Type for variable '${name}' is empty; 'type' must not be empty`);
  const options = own(entry, "options") ?? newMap();
  if (!isObject(options)) throw bad(`options of variable with name '${name}' is not a Hash`);
  return {
    name: absoluteName(name, scope),
    written: name,
    type,
    options,
    mode: modeOf(name, own(entry, "update_mode") ?? fallback),
    strategy: strategyOf(name, own(entry, "update")),
    consumes: linkedNames(name, type, own(entry, "consumes")),
  };
}

function modeOf(name: string, given: unknown): GenerationMode {
  const mode = GENERATION_MODES.find((one) => one === given);
  if (mode !== undefined) return mode;
  throw BadVariables({
    why: `Update mode for variable '${name}' must be one of ${GENERATION_MODES.join(", ")}`,
  });
}

function strategyOf(name: string, update: unknown): Definition["strategy"] {
  const given = isObject(update) ? own(update, "strategy") : undefined;
  if (given === undefined || given === null || given === "on-deploy") return "on-deploy";
  if (given === "on-stemcell-change") return given;
  throw BadVariables({
    why: `Update strategy for variable '${name}' must be on-deploy or on-stemcell-change`,
  });
}
