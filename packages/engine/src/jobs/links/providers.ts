import type { ProvidedLink } from "@slipway/protocol/release/job-mf";
import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";
import { WRONG_TYPE } from "../../documents/fields.ts";
import type { Report } from "../../documents/problems.ts";
import { own } from "../../documents/tree.ts";
import type { InstanceGroup } from "../../manifest/model.ts";
import type { PlacedJob } from "../model.ts";
import { jobPlace } from "../place-jobs.ts";
import type { LinkProvider } from "./model.ts";

/** Upstream has no number for these. */
const UNKNOWN = 100;

export interface Parsing {
  readonly deployment: string;
  readonly report: Report;
  /** Takes what is no mistake, but perhaps not meant. */
  readonly note: (text: string) => void;
}

/** The links that a job provides, as its release defines them and the manifest wants them. */
export function providersOf(placed: PlacedJob, parsing: Parsing): readonly LinkProvider[] {
  const { manifest, known } = placed;
  const custom = customProviders(placed, parsing.report);
  const defined = [
    ...custom.map((link) => ({ link, custom: true })),
    ...known.job.provides.map((link) => ({ link, custom: false })),
  ];
  for (const name of Object.keys(manifest.provides))
    if (!defined.some(({ link }) => link.name === name))
      parsing.note(`Job '${manifest.name}' does not define link provider '${name}' in the release spec`);
  return defined.flatMap((one) => providerOf(placed, one.link, one.custom, parsing) ?? []);
}

/** Each named disk of a group is a link of its own. */
export const diskProviders = (
  { name: group, persistentDisks = [] }: InstanceGroup,
  deployment: string,
): readonly LinkProvider[] =>
  persistentDisks.map(({ name }) => ({
    deployment,
    group,
    job: group,
    kind: "disk",
    originalName: name,
    name,
    type: "disk",
    shared: false,
    consumable: true,
    custom: false,
    properties: { name },
    aliases: [],
  }));

function providerOf(
  placed: PlacedJob,
  link: ProvidedLink,
  custom: boolean,
  { deployment, report }: Parsing,
): LinkProvider | undefined {
  const { group, manifest } = placed;
  const where = `${jobPlace(group, manifest)}.provides.${link.name}`;
  const wanted = Object.hasOwn(manifest.provides, link.name) ? manifest.provides[link.name] : {};
  const problems = wantedProblems(placed, link.name, wanted);
  const exported = exportedProperties(placed, link);
  for (const problem of [...problems, ...exported.problems])
    report.add(UNKNOWN, where, problem, "Correct it in the manifest, or in the job's spec.");
  if (problems.length + exported.problems.length > 0) return undefined;
  const given = isObject(wanted) ? wanted : {};
  const { as: alias, shared = false, aliases = [] } = given;
  const wrong = (key: string, expected: string, fix: string): undefined => {
    report.add(WRONG_TYPE, `${where}.${key}`, `expected ${expected}`, fix);
  };
  if (alias !== undefined && (typeof alias !== "string" || alias === "" || alias.length > LONGEST_NAME))
    return wrong(
      "as",
      `a string of at most ${LONGEST_NAME} characters`,
      "Give the name that consumers ask for.",
    );
  if (typeof shared !== "boolean")
    return wrong("shared", "true or false", "Write true or false, without quotes.");
  if (!Array.isArray(aliases) || !aliases.every(hasDomain))
    return wrong("aliases", "a list of maps", "Give each a domain: aliases: [{domain: web.internal}].");
  return {
    deployment,
    group: group.name,
    job: manifest.name,
    kind: "job",
    originalName: link.name,
    name: alias ?? link.name,
    type: link.type,
    shared,
    consumable: wanted !== "nil",
    custom,
    properties: exported.properties,
    aliases,
  };
}

const LONGEST_NAME = 255;

const hasDomain = (one: unknown): one is JsonObject => isObject(one) && typeof one.domain === "string";

function wantedProblems(
  { group, manifest }: PlacedJob,
  link: string,
  wanted: Json | undefined,
): readonly string[] {
  if (wanted === "nil") return [];
  const place = `in job '${manifest.name}' in instance group '${group.name}'`;
  if (!isObject(wanted))
    return [`Provider '${link}' ${place} specified in the manifest should only be a hash or string 'nil'`];
  if (!Object.hasOwn(wanted, "name") && !Object.hasOwn(wanted, "type")) return [];
  return [
    `Cannot specify 'name' or 'type' properties in the manifest for link '${link}' ${place}. ` +
      "Please provide these keys in the release only.",
  ];
}

/** Each property of the link: as it was given to the job, else its default. */
function exportedProperties(
  { manifest, known, given }: PlacedJob,
  link: ProvidedLink,
): { readonly properties: JsonObject; readonly problems: readonly string[] } {
  const properties: Record<string, Json> = {};
  const problems: string[] = [];
  for (const name of link.properties) {
    const path = name.split(".");
    const found = lookUp(given, path);
    if (found !== undefined) put(properties, path, found);
    else if (known.job.properties.has(name)) put(properties, path, known.job.properties.get(name) ?? null);
    else problems.push(`Link property ${name} in template ${manifest.name} is not defined in release spec`);
  }
  return { properties, problems };
}

/** Returns the value at a path; undefined if it is missing. A null in the manifest counts as a value. */
function lookUp(given: JsonObject, path: readonly string[]): Json | undefined {
  let at: Json | undefined = given;
  for (const key of path) {
    if (!isObject(at)) return undefined;
    at = own(at, key) as Json | undefined;
  }
  return at;
}

function put(into: Record<string, Json>, path: readonly string[], value: Json): void {
  const [key, ...rest] = path;
  if (key === undefined) return;
  if (rest.length === 0) {
    into[key] = value;
    return;
  }
  const there = own(into, key);
  const next = isObject(there) ? { ...(there as Record<string, Json>) } : {};
  into[key] = next;
  put(next, rest, value);
}

/**
 * Reads `custom_provider_definitions` of the manifest. One mistake leaves all of them out, since all mistakes are reported
 * together.
 */
function customProviders(placed: PlacedJob, report: Report): readonly ProvidedLink[] {
  const { group, manifest, known, release } = placed;
  const place = `in job '${manifest.name}' in instance group '${group.name}'`;
  const problems: string[] = [];
  const read = manifest.customProviders.map((one) => {
    const [name, type] = [own(one, "name"), own(one, "type")];
    const named = typeof name === "string" && name !== "" && name.length <= LONGEST_NAME;
    const typed = typeof type === "string" && type !== "" && type.length <= LONGEST_NAME;
    const what = `for custom link provider definition in manifest ${place} must be a valid non-empty string.`;
    if (!named) problems.push(`Name ${what}`);
    if (!typed) problems.push(`Type ${what}`);
    if (named && known.job.provides.some((link) => link.name === name))
      problems.push(`Custom provider '${name}' ${place} is already defined in release '${release.name}'`);
    const properties = listOf(own(one, "properties")).filter((item) => typeof item === "string");
    return { name: named ? name : "", type: typed ? type : "", properties };
  });
  const names = read.map(({ name }) => name).filter((name) => name !== "");
  for (const name of new Set(names.filter((one, at) => names.indexOf(one) !== at)))
    problems.push(`Custom provider '${name}' ${place} is defined multiple times in manifest.`);
  const where = `${jobPlace(group, manifest)}.custom_provider_definitions`;
  for (const problem of problems)
    report.add(UNKNOWN, where, problem, "Give each definition a name of its own, and a type.");
  return problems.length > 0 ? [] : read;
}

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : [];
