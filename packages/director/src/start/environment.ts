import { proxiesIn } from "@slipway/kernel/http/proxy";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";

type Env = Readonly<Record<string, string | undefined>>;

/** A configuration with what the usual environment variables say, where it says nothing itself. */
export const withEnvironment = (config: DirectorConfig, env: Env): DirectorConfig => ({
  ...config,
  ...given("tracing", config.tracing ?? tracingOf(env)),
  ...given("proxy", config.proxy ?? proxyIn(env)),
});

function proxyIn(env: Env): DirectorConfig["proxy"] {
  const { http, https, noProxy } = proxiesIn(env);
  if (http === undefined && https === undefined) return undefined;
  return { ...given("http", http), ...given("https", https), ...given("no_proxy", noProxy) };
}

const given = <K extends string, V>(key: K, value: V | undefined) =>
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
      ...given("headers", headersOf(of("HEADERS"))),
      ...given("ca", of("CERTIFICATE")),
    },
    ...given("service_name", service),
  };
}

/** `name=value,name=value`, as in a URL. */
function headersOf(text: string | undefined): Readonly<Record<string, string>> | undefined {
  const pairs = text?.split(",").flatMap((pair) => {
    const [name = "", ...value] = pair.split("=");
    return name.trim() === "" ? [] : [[name.trim(), decoded(value.join("=").trim())] as const];
  });
  return pairs && Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
