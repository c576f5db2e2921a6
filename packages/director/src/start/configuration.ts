import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { parseYaml } from "@slipway/engine/documents/yaml";
import type { FlowSettings } from "@slipway/engine/steps/context";
import { agentEnvOf } from "@slipway/engine/steps/env";
import { systemClock } from "@slipway/kernel/clock";
import { defineError, messageTrail, systemCode, toError } from "@slipway/kernel/errors";
import { type ProxySettings, proxiesIn } from "@slipway/kernel/http/proxy";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { type DirectorConfig, directorConfig } from "@slipway/protocol/director/config-file";
import { check } from "@slipway/protocol/schema/check";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { OperationContext } from "../operations/operation.ts";
import { tracingHeaders } from "../tracing/collector.ts";
import { openTokens } from "../uaa/tokens.ts";
import { certificateOf } from "../variables/open.ts";
import { configuredCertificate } from "./api-settings.ts";

export const ConfigUnreadable = defineError<{ path: string; problems: string }>({
  code: "DIR-002",
  kind: "operator",
  message: (p) => `the configuration file ${p.path} cannot be used: ${p.problems}`,
  next: "Correct the file; docs/run-the-director.md lists every key.",
});

export const ConfigMissing = defineError<{ path: string }>({
  code: "DIR-005",
  kind: "operator",
  typed: true,
  message: (p) => `there is no configuration file ${p.path}`,
  next: "Name one that is there; without --config everything has its default.",
});

/** Number of problems that are shown, so that the operator corrects the file once. */
const ALL = 100;

/** The configuration of a file, YAML by its name or else JSON; without one everything has its default. */
export async function readConfig(path: string | undefined): Promise<DirectorConfig> {
  if (path === undefined) return {};
  let document: unknown;
  try {
    const text = await readFile(path, "utf8");
    document = /\.ya?ml$/i.test(path) ? parseYaml(text, path) : parseStrictJson(text, path);
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") throw ConfigMissing({ path }, { cause });
    throw ConfigUnreadable({ path, problems: messageTrail(cause) });
  }
  const checked = check(directorConfig, document, "config", ALL);
  const problems = checked.ok ? await configProblems(checked.value, systemClock.now()) : checked.problems;
  if (!checked.ok || problems.length > 0) throw ConfigUnreadable({ path, problems: problems.join("; ") });
  return checked.value;
}

/** Returns all problems of a configuration whose form is right. Reads the files it names, and makes no requests. */
export async function configProblems(config: DirectorConfig, now: number): Promise<readonly string[]> {
  const found = await Promise.all([
    ...filesOf(config).map(([what, given]) => problemOf(() => certificateOf(what, given))),
    problemOf(() => configuredCertificate(config.listen ?? {}, now)),
    problemOf(() => tracingHeaders(config.tracing?.otlp.headers)),
    problemOf(async () =>
      (await openTokens(config.uaa, { clock: NO_CLOCK, onError: () => undefined }))?.close(),
    ),
  ]);
  const all = [...userProblems(config.users ?? []), ...listenProblems(config.listen ?? {}), ...found.flat()];
  return [...new Set(all)];
}

/** Keys are not fetched here. */
const NO_CLOCK = {
  now: () => 0,
  monotonic: () => 0,
  sleep: () => Promise.resolve(),
  after: () => () => undefined,
};

const filesOf = (config: DirectorConfig): readonly (readonly [string, string | undefined])[] => [
  ["listen.ca", config.listen?.ca],
  ["agent.trusted_certs", config.agent?.trusted_certs],
  ["nats.ca", config.nats?.ca],
  ["health.webhook.ca", config.health?.webhook?.ca],
  ["tracing.otlp.ca", config.tracing?.otlp.ca],
  ["config_server.ca", config.config_server?.ca],
  ["config_server.uaa.ca", config.config_server?.uaa.ca],
];

async function problemOf(look: () => Promise<unknown>): Promise<readonly string[]> {
  try {
    await look();
    return [];
  } catch (error) {
    return [toError(error).message];
  }
}

const LOOPBACK = /^(localhost|::1|127(\.\d{1,3}){3})$/;

function listenProblems(listen: NonNullable<DirectorConfig["listen"]>): readonly string[] {
  if (listen.plain_http !== true) return [];
  const host = listen.host ?? "127.0.0.1";
  return [
    ...(LOOPBACK.test(host)
      ? []
      : [
          `listen.plain_http: passwords and tokens would cross the network readable; host must be 127.0.0.1, ::1 or localhost, and not ${host}`,
        ]),
    ...(listen.certificate === undefined
      ? []
      : ["listen.certificate: there is no use for one with plain_http"]),
  ];
}

function userProblems(users: NonNullable<DirectorConfig["users"]>): readonly string[] {
  const names = users.map(({ name }) => name);
  const twice = names.filter((name, at) => names.indexOf(name) !== at);
  const colons = names.filter((name) => name.includes(":"));
  return [
    ...twice.map((name) => `users: the name ${name} stands there twice`),
    ...colons.map((name) => `users: the name ${name} has a colon`),
  ];
}

type Env = Readonly<Record<string, string | undefined>>;

/** A configuration with what the usual environment variables say, where it says nothing itself. */
export const withEnvironment = (config: DirectorConfig, env: Env): DirectorConfig => ({
  ...config,
  ...ifDefined("tracing", config.tracing ?? tracingOf(env)),
  ...ifDefined("proxy", config.proxy ?? proxyIn(env)),
});

function proxyIn(env: Env): DirectorConfig["proxy"] {
  const { http, https, noProxy } = proxiesIn(env);
  if (http === undefined && https === undefined) return undefined;
  return { ...ifDefined("http", http), ...ifDefined("https", https), ...ifDefined("no_proxy", noProxy) };
}

const ifDefined = <K extends string, V>(key: K, value: V | undefined) =>
  value === undefined ? {} : ({ [key]: value } as Record<K, V>);

/** Reads the variables of OpenTelemetry, if they ask for the protocol spoken here: their default is another one. */
function tracingOf(env: Env): DirectorConfig["tracing"] {
  const of = (name: string) =>
    env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`] || undefined;
  const endpoint = of("ENDPOINT");
  if (endpoint === undefined || of("PROTOCOL") !== "http/json") return undefined;
  if (!URL.canParse(endpoint) || env.OTEL_SDK_DISABLED === "true") return undefined;
  const service = env.OTEL_SERVICE_NAME || undefined;
  return {
    otlp: {
      endpoint,
      ...ifDefined("headers", headersOf(of("HEADERS"))),
      ...ifDefined("ca", of("CERTIFICATE")),
    },
    ...ifDefined("service_name", service),
  };
}

/** `name=value,name=value`, as in a URL. */
function headersOf(text: string | undefined): Readonly<Record<string, string>> | undefined {
  const pairs = text?.split(",").flatMap((pair) => {
    const [name = "", ...value] = pair.split("=");
    return name.trim() === "" ? [] : [[name.trim(), decodedValue(value.join("=").trim())] as const];
  });
  return pairs && Object.fromEntries(pairs);
}

function decodedValue(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The keys that a running Director takes over. Of all others it goes by what they were at its start. */
export const TAKEN_OVER: readonly string[] = [
  "users",
  "listen.certificate",
  "listen.private_key",
  "listen.ca",
  "logging",
  "proxy",
  "tracing",
];

/** The keys that differ and are not taken over, such as `name` and `director.workers`. */
export function takeRestart(started: DirectorConfig, changed: DirectorConfig): readonly string[] {
  const [before, now] = [placesOf(started), placesOf(changed)];
  return [...new Set([...before.keys(), ...now.keys()])]
    .filter((place) => !TAKEN_OVER.some((taken) => place === taken || place.startsWith(`${taken}.`)))
    .filter((place) => !isDeepStrictEqual(before.get(place), now.get(place)))
    .sort();
}

/** Returns the settings, two levels deep: keys further below are free. */
const placesOf = (config: DirectorConfig): ReadonlyMap<string, unknown> =>
  new Map(
    Object.entries(config).flatMap(([key, value]): (readonly [string, unknown])[] =>
      typeof value !== "object" || Array.isArray(value)
        ? [[key, value]]
        : Object.entries(value).map(([inner, one]) => [`${key}.${inner}`, one]),
    ),
  );

/** Returns the settings that steps get from the configuration. */
export async function flowSettings(
  { agent, director: limits = {} }: DirectorConfig,
  { name, uuid }: { readonly name: string; readonly uuid: string },
): Promise<FlowSettings> {
  return {
    directorName: name,
    directorUuid: uuid,
    agentEnvBosh: agentEnvOf(agent?.env as JsonObject | undefined),
    trustedCerts: await certificateOf("agent.trusted_certs", agent?.trusted_certs),
    agentWaitMs: (agent?.wait_timeout_s ?? 600) * 1000,
    maxVmCreateTries: limits.max_vm_create_tries ?? 5,
    keepUnreachableVms: limits.keep_unreachable_vms ?? false,
    stopTimeoutMs: 300_000,
    generateVmPasswords: limits.generate_vm_passwords,
  };
}

export const proxyOf = ({ proxy }: DirectorConfig): ProxySettings | undefined =>
  proxy && { http: proxy.http, https: proxy.https, noProxy: proxy.no_proxy };

export const operationOptions = ({ director: limits = {} }: DirectorConfig): OperationContext["options"] => ({
  enableCpiResizeDisk: limits.enable_cpi_resize_disk ?? false,
  enableCpiUpdateDisk: limits.enable_cpi_update_disk ?? false,
  enableSnapshots: limits.enable_snapshots,
  enableCpiNetworkManagement: limits.enable_cpi_network_management,
  ignoreMissingGateway: limits.ignore_missing_gateway,
  allowErrandsOnStoppedInstances: limits.allow_errands_on_stopped_instances,
  sshGateway: limits.default_ssh_options && {
    host: limits.default_ssh_options.gateway_host,
    user: limits.default_ssh_options.gateway_user ?? "vcap",
  },
});
