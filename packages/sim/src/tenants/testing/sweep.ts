import type { Body, Route } from "@slipway/director/api/route";
import type { Sent } from "@slipway/director/api/testing/harness";
import { CANARY } from "./two-teams.ts";

/** Everything of team a that a caller could name, by what it is. Found out with the credentials of team a. */
export interface Named {
  readonly deployment: string;
  readonly group: string;
  readonly uuid: string;
  readonly vm: string;
  readonly disk: string;
  readonly config: string;
  /** Absolute names: one of the deployment, and one outside of it. */
  readonly variables: readonly string[];
  /** Ids of every kind: tasks, configs, links, events, blobs. */
  readonly ids: readonly string[];
  /** Values that Slipway generated for team a, and contents of its blobs. */
  readonly generated: readonly string[];
}

export interface SweepRequest {
  readonly method: string;
  readonly path: string;
  readonly sent: Sent;
}

export type SweepCall = (
  method: string,
  path: string,
  sent: Sent,
) => Promise<{ status: number; body: string }>;

export interface Leak {
  readonly request: string;
  readonly found: string;
}

const TYPES: Readonly<Record<Body, string>> = {
  any: "application/json",
  json: "application/json",
  yaml: "text/yaml",
  archive: "application/x-compressed",
};

/** Values of parameters in paths and queries. A parameter without a line here is tried with names and ids of team a. */
const VALUES: Readonly<Record<string, (named: Named) => readonly string[]>> = {
  deployment: ({ deployment }) => [deployment],
  "deployment[]": ({ deployment }) => [deployment],
  group: ({ group }) => [group],
  index: ({ uuid }) => ["0", uuid],
  instance: ({ group, uuid }) => [`${group}/${uuid}`],
  cid: ({ vm, disk }) => [vm, disk],
  action: () => ["start", "stop", "restart", "recreate"],
  type: ({ config }) => ["event", "result", "debug", "cpi", "conversation", "cloud", "runtime", config],
  name: ({ config, deployment, variables }) => [
    config,
    deployment,
    ...variables,
    "default",
    "tenant",
    "sim",
    "app",
  ],
  release_name: () => ["tenant"],
  version: () => ["1", "1.1"],
  user: () => ["ada"],
  state: () => ["queued,processing,done,error"],
  verbose: () => ["2"],
};

const valuesOf = (parameter: string, named: Named): readonly string[] =>
  VALUES[parameter]?.(named) ?? [...named.ids, named.deployment, named.group, named.config];

/** All requests that a route is tried with: each path parameter and each query name with everything of team a. */
export function requestsTo(route: Route, named: Named): readonly SweepRequest[] {
  const paths = filled(route.path, named);
  const queries = Object.keys(route.endpoint.query?.entries ?? {}).flatMap((key) =>
    valuesOf(key, named).map((value) => `?${encodeURIComponent(key)}=${encodeURIComponent(value)}`),
  );
  // A task's output is asked for by type, a deployment's links by deployment and id.
  const both = queries.includes(`?deployment=${named.deployment}`)
    ? queries.map((query) => `${query}&deployment=${named.deployment}`)
    : [];
  const bodies: readonly Sent[] = route.method === "GET" ? [{}] : bodiesOf(route.body, named);
  return paths.flatMap((path) =>
    ["", ...queries, ...both].flatMap((query) =>
      bodies.map((sent) => ({ method: route.method, path: path + query, sent })),
    ),
  );
}

function filled(path: string, named: Named): readonly string[] {
  const [, before = "", parameter, after = ""] = /^(.*?):([a-z_]+)(.*)$/.exec(path) ?? [];
  if (parameter === undefined) return [path];
  return valuesOf(parameter, named).flatMap((value) =>
    filled(`${before}${encodeURIComponent(value)}${after}`, named),
  );
}

function bodiesOf(body: Body, named: Named): readonly Sent[] {
  const type = TYPES[body];
  if (body === "yaml") return [{ type, body: JSON.stringify({ name: named.deployment }) }];
  if (body === "archive") return [{ type, body: "no archive" }];
  const one = {
    deployment: named.deployment,
    deployment_name: named.deployment,
    content: "{}",
    job: named.group,
  };
  const consumer = { owner_object: { type: "external", name: "x" } };
  return [
    { ...one, type: "cloud", name: named.config, target: { job: named.group, indexes: ["0"] } },
    ...named.ids.map((id) => ({
      ...one,
      from: { id },
      to: { content: "{}" },
      link_provider_id: id,
      ids: [id],
    })),
  ].map((each) => ({ type, body: JSON.stringify({ ...each, link_consumer: consumer }) }));
}

/** Sends a request and searches all bytes of the answer. What the caller has named itself may come back. */
export async function leakOf(
  ask: SweepCall,
  { method, path, sent }: SweepRequest,
  user: string | null,
  named: Named,
): Promise<Leak | undefined> {
  const { status, body } = await ask(method, path, { ...sent, user });
  const own = `${decodeURIComponent(path)} ${String(sent.body ?? "")}`.toLowerCase();
  const text = body.toLowerCase();
  const found =
    named.generated.find((value) => text.includes(value.toLowerCase())) ??
    [...text.matchAll(CANARIES)].map(([word]) => word).find((word) => !own.includes(word));
  if (found === undefined) return undefined;
  return { request: `${method} ${path} as ${user ?? "nobody"} (${status})`, found };
}

const CANARIES = new RegExp(`${CANARY}-[a-z]+`, "g");
