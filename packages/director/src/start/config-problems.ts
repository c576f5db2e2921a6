import { toError } from "@slipway/kernel/errors";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { tracingHeaders } from "../tracing/collector.ts";
import { openTokens } from "../uaa/tokens.ts";
import { certificateOf } from "../variables/open.ts";
import { givenCertificate } from "./api-certificate.ts";

/** Returns all problems of a configuration whose form is right. Reads the files it names, and makes no requests. */
export async function configProblems(config: DirectorConfig, now: number): Promise<readonly string[]> {
  const found = await Promise.all([
    ...filesOf(config).map(([what, given]) => trouble(() => certificateOf(what, given))),
    trouble(() => givenCertificate(config.listen ?? {}, now)),
    trouble(() => tracingHeaders(config.tracing?.otlp.headers)),
    trouble(async () =>
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

async function trouble(look: () => Promise<unknown>): Promise<readonly string[]> {
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
