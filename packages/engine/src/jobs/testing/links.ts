import type { JsonObject } from "@slipway/protocol/schema/json";
import type { DesiredInstance } from "../../model/goal.ts";
import { group, manifest } from "../../plan/testing/builders.ts";
import { jobsError } from "../errors.ts";
import type { JobsInput } from "../model.ts";
import { instance, job, knownJob, plannedJobs, refusedJobs, release, releases } from "./builders.ts";

const DB = knownJob("postgres", {
  properties: { port: { default: 5432 }, user: {}, secret: {} },
  provides: [{ name: "db", type: "sql", properties: ["port", "user"] }],
});
export const WEB = knownJob("web", { consumes: [{ name: "db", type: "sql" }] });
const MAYBE = knownJob("maybe", { consumes: [{ name: "db", type: "sql", optional: true }] });

const RELEASES = releases(release("demo", DB, WEB, MAYBE));

export interface Sketch {
  readonly provides?: JsonObject;
  readonly consumes?: JsonObject;
  readonly consumer?: string;
  readonly properties?: JsonObject;
  readonly providers?: readonly string[];
  readonly customProviders?: readonly JsonObject[];
  readonly instances?: readonly DesiredInstance[];
  readonly sharedProviders?: JobsInput["sharedProviders"];
}

/** `web` consumes what each of `providers` provides. */
export function sketch({
  provides = {},
  consumes = {},
  consumer = "web",
  providers = ["db"],
  properties,
  customProviders = [],
  instances = [instance("db", 0), instance("web", 0)],
  sharedProviders,
}: Sketch = {}): Omit<JobsInput, "director"> {
  const jobs = [job("postgres", { provides, properties, customProviders })];
  return {
    manifest: manifest([
      ...providers.map((name) => group(name, 1, { jobs })),
      group("web", 1, { jobs: [job(consumer, { consumes })] }),
    ]),
    releases: RELEASES,
    instances,
    ...(sharedProviders && { sharedProviders }),
  };
}

export function linkOf(given: Sketch = {}): JsonObject | undefined {
  const planned = plannedJobs(sketch(given));
  const web = planned.instances.get(instance("web", 0).uuid);
  return (web?.[0]?.context.links as Record<string, JsonObject> | undefined)?.db;
}

export const texts = (given: Sketch): readonly string[] =>
  refusedJobs(sketch(given)).problems.map(({ problem }) => problem);
export const report = (given: Sketch): string => jobsError(refusedJobs(sketch(given))).message;

export const noProvider = (more = "") =>
  [
    "Failed to resolve links from deployment 'shop'. See errors below:",
    `  - Failed to resolve link 'db' with ${more}type 'sql' from job 'web' in instance group 'web'. Details below:`,
    "    - No link providers found",
  ].join("\n");
