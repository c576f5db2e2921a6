import type { ConsumedLink } from "@slipway/protocol/release/job-mf";
import { isObject, type Json, type JsonObject } from "@slipway/protocol/schema/json";
import { WRONG_TYPE } from "../../documents/fields.ts";
import { own } from "../../documents/tree.ts";
import type { Manifest } from "../../manifest/model.ts";
import type { PlacedJob } from "../model.ts";
import { jobPlace } from "../place-jobs.ts";
import type { LinkConsumer, SharedProviders } from "./model.ts";
import type { Parsing } from "./providers.ts";

const UNKNOWN = 100;
const MANUAL_KEYS = ["instances", "properties", "address"];

/** The links that a job needs, as its release defines them and the manifest wants them. */
export function consumersOf(
  placed: PlacedJob,
  others: SharedProviders,
  parsing: Parsing,
): readonly LinkConsumer[] {
  const { manifest, known } = placed;
  for (const name of Object.keys(manifest.consumes))
    if (!known.job.consumes.some((link) => link.name === name))
      parsing.note(`Job '${manifest.name}' does not define link consumer '${name}' in the release spec`);
  return known.job.consumes.flatMap((link) => consumerOf(placed, link, others, parsing) ?? []);
}

function consumerOf(
  placed: PlacedJob,
  link: ConsumedLink,
  others: SharedProviders,
  { deployment, report }: Parsing,
): LinkConsumer | undefined {
  const { group, manifest } = placed;
  const where = `${jobPlace(group, manifest)}.consumes.${link.name}`;
  const implicit: LinkConsumer = {
    group: group.name,
    job: manifest.name,
    originalName: link.name,
    name: link.name,
    type: link.type,
    optional: link.optional,
    explicit: false,
    blocked: false,
    manual: undefined,
    deployment: undefined,
    network: undefined,
    ipAddresses: undefined,
  };
  if (!Object.hasOwn(manifest.consumes, link.name)) return implicit;
  const wanted = manifest.consumes[link.name] ?? null;
  if (wanted === "nil") return { ...implicit, explicit: true, blocked: true };
  const problems = wantedProblems(placed, link.name, wanted);
  const given = isObject(wanted) ? wanted : {};
  for (const problem of problems)
    report.add(UNKNOWN, where, problem, "Correct what the manifest says of the link.");
  for (const key of ["from", "deployment", "network"])
    if (Object.hasOwn(given, key) && !isText(given[key])) {
      report.add(WRONG_TYPE, `${where}.${key}`, "expected a string", "Write a name, or remove the key.");
      return undefined;
    }
  if (problems.length > 0) return undefined;
  const explicit = { ...implicit, explicit: true };
  if (MANUAL_KEYS.some((key) => Object.hasOwn(given, key)))
    return { ...explicit, manual: manualContent(given, deployment) };

  const from = text(given, "from") ?? link.name;
  const other = text(given, "deployment");
  if (other !== undefined && other !== deployment && !others.has(other)) {
    report.add(
      UNKNOWN,
      `${where}.deployment`,
      `Link '${from}' in job '${manifest.name}' from instance group '${group.name}' consumes from deployment ` +
        `'${other}', but the deployment does not exist.`,
      "Deploy it first, or correct the name.",
    );
    return undefined;
  }
  return {
    ...explicit,
    name: from.split(".").at(-1) ?? from,
    deployment: other,
    network: text(given, "network"),
    ipAddresses: own(given, "ip_addresses") as boolean | undefined,
  };
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const text = (given: Readonly<Record<string, unknown>>, key: string): string | undefined => {
  const value = own(given, key);
  return isText(value) ? value : undefined;
};

function wantedProblems({ group, manifest }: PlacedJob, link: string, wanted: Json): readonly string[] {
  const place = `in job '${manifest.name}' in instance group '${group.name}'`;
  if (!isObject(wanted))
    return [`Consumer '${link}' ${place} specified in the manifest should only be a hash or string 'nil'`];
  const has = (key: string) => Object.hasOwn(wanted, key);
  const ofLink = `for link '${link}' ${place}.`;
  const problems: string[] = [];
  for (const key of ["instances", "properties"])
    if (has(key) && has("from")) problems.push(`Cannot specify both '${key}' and 'from' keys ${ofLink}`);
  if (has("properties") && !has("instances"))
    problems.push(`Cannot specify 'properties' without 'instances' ${ofLink}`);
  if (has("ip_addresses") && typeof wanted.ip_addresses !== "boolean")
    problems.push(`Cannot specify non boolean values for 'ip_addresses' field ${ofLink}`);
  if (has("name") || has("type"))
    problems.push(
      `Cannot specify 'name' or 'type' properties in the manifest ${ofLink} ` +
        "Please provide these keys in the release only.",
    );
  return problems;
}

function manualContent(given: Readonly<Record<string, unknown>>, deployment: string): JsonObject {
  const content = MANUAL_KEYS.map((key) => [key, (own(given, key) ?? null) as Json] as const);
  return { ...Object.fromEntries(content), deployment_name: deployment };
}

/** The deployments whose shared links a manifest asks for. */
export function consumedDeployments(manifest: Manifest): readonly string[] {
  const named = manifest.groups
    .flatMap(({ jobs }) => jobs.flatMap(({ consumes }) => Object.values(consumes)))
    .flatMap((one) => (isObject(one) ? (text(one, "deployment") ?? []) : []));
  return [...new Set(named)].filter((name) => name !== manifest.name);
}
