import * as v from "valibot";
import { check } from "../schema/check.ts";
import {
  isUnusableName,
  type Json,
  type JsonObject,
  json,
  keyText,
  mapOf,
  open,
  text,
} from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

const property = v.nullable(
  open({ default: v.optional(json()), description: v.optional(v.nullable(json())) }),
);

/** Templates find links by name, in an object. */
const linkName = v.pipe(
  keyText("name"),
  v.check((name) => !isUnusableName(name), "name must not be '.', '..' or '__proto__'"),
);

const provides = open({
  name: linkName,
  type: keyText("type"),
  properties: v.optional(v.nullable(v.array(v.string()))),
});
const consumes = open({
  name: linkName,
  type: keyText("type"),
  optional: v.optional(v.nullable(v.boolean())),
});

/** `job.MF`, a job's `spec` file, after YAML. */
export const jobManifest = open({
  name: text("name"),
  description: v.optional(v.nullable(json())),
  templates: v.optional(v.nullable(doc(mapOf(v.string()), "path in templates/ to path in the job"))),
  packages: v.optional(v.nullable(doc(v.array(v.string()), "needed at run time"))),
  properties: v.optional(v.nullable(mapOf(property))),
  provides: v.optional(v.nullable(v.array(provides))),
  consumes: v.optional(v.nullable(v.array(consumes))),
  logs: v.optional(v.nullable(doc(mapOf(v.string()), "label to a pattern of log files"))),
});

export interface JobTemplate {
  readonly source: string;
  readonly destination: string;
}

export interface ProvidedLink {
  readonly name: string;
  readonly type: string;
  readonly properties: readonly string[];
}

export interface ConsumedLink {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
}

export interface Job {
  readonly name: string;
  /** In the order of their sources, as hashes are made of them. */
  readonly templates: readonly JobTemplate[];
  readonly packages: readonly string[];
  /** Properties by dotted name; `undefined` if there is no default. */
  readonly properties: ReadonlyMap<string, Json | undefined>;
  readonly provides: readonly ProvidedLink[];
  readonly consumes: readonly ConsumedLink[];
  readonly logs: Readonly<Record<string, string>>;
  /** Runs once when asked, instead of all the time. */
  readonly errand: boolean;
}

export type ParsedJob =
  | { readonly ok: true; readonly job: Job }
  | { readonly ok: false; readonly problems: readonly string[] };

const RUNS = ["bin/run", "bin/run.ps1"];

export function readJobManifest(value: unknown, what = "job.MF"): ParsedJob {
  const checked = check(jobManifest, value, what);
  if (!checked.ok) return checked;
  const mf = checked.value;
  const templates = Object.entries(mf.templates ?? {})
    .map(([source, destination]) => ({ source, destination }))
    .sort((a, b) => (a.source < b.source ? -1 : 1));
  const problems = [
    ...templates.flatMap(({ source, destination }) => [
      ...outside(what, "template", source),
      ...outside(what, "template destination", destination),
    ]),
    ...twice(what, "provided", mf.provides ?? []),
    ...twice(what, "consumed", mf.consumes ?? []),
    ...(mf.provides ?? [])
      .filter((link) => "optional" in link)
      .map((link) => `${what}: provided link '${link.name}' must not be optional`),
  ];
  if (problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    job: {
      name: mf.name,
      templates,
      packages: mf.packages ?? [],
      properties: new Map(
        Object.entries(mf.properties ?? {}).map(([name, given]) => [
          name,
          given?.default as Json | undefined,
        ]),
      ),
      provides: (mf.provides ?? []).map(({ name, type, properties }) => ({
        name,
        type,
        properties: properties ?? [],
      })),
      consumes: (mf.consumes ?? []).map(({ name, type, optional }) => ({
        name,
        type,
        optional: optional ?? false,
      })),
      logs: mf.logs ?? {},
      errand: templates.some(({ destination }) => RUNS.includes(destination)),
    },
  };
}

/** A job.MF that is read as this job again. */
export const jobDocument = (job: Job): JsonObject => ({
  name: job.name,
  templates: Object.fromEntries(job.templates.map(({ source, destination }) => [source, destination])),
  packages: job.packages,
  properties: Object.fromEntries(
    [...job.properties].map(([name, value]) => [name, value === undefined ? {} : { default: value }]),
  ),
  provides: job.provides.map(({ name, type, properties }) => ({ name, type, properties })),
  consumes: job.consumes.map(({ name, type, optional }) => ({ name, type, optional })),
  logs: job.logs,
});

/** A path that would leave its directory. */
function outside(what: string, kind: string, path: string): string[] {
  const parts = path.split("/");
  const bad = path === "" || path.startsWith("/") || path.includes("\0") || parts.includes("..");
  return bad ? [`${what}: ${kind} '${path}' is not a path inside the job`] : [];
}

function twice(what: string, kind: string, links: readonly { readonly name: string }[]): string[] {
  const names = links.map(({ name }) => name);
  const again = new Set(names.filter((name, at) => names.indexOf(name) !== at));
  return [...again].map((name) => `${what}: link '${name}' is ${kind} twice`);
}
