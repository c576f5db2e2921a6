import { defineError } from "@slipway/kernel/errors";

export const NoEnvironment = defineError<Record<never, never>>({
  code: "CLI-010",
  kind: "operator",
  message: () => "no Director was named, and none runs on this machine",
  next: "`slipway up` starts one on this machine. Another one is named with -e URL or BOSH_ENVIRONMENT.",
});

export const BadEnvironment = defineError<{ given: string; why: string }>({
  code: "CLI-011",
  kind: "operator",
  typed: true,
  message: (p) => `'${withoutLogin(p.given)}' is neither the URL of a Director nor an alias: ${p.why}`,
  next: "Give a URL such as https://10.0.0.6:25555, or an alias that `slipway environments` lists.",
});

/** Hides a name and password in a URL. Rather too much than too little: a password may hold a slash. */
const withoutLogin = (given: string): string =>
  String(given).replace(
    /^([a-z][\w+.-]*:\/\/)?[\s\S]*@/i,
    (_, scheme: string | undefined) => `${scheme ?? ""}***@`,
  );

export const NoDeployment = defineError<Record<never, never>>({
  code: "CLI-012",
  kind: "operator",
  typed: true,
  message: () => "this command works on a deployment, and none was named",
  next: "Name it with -d NAME or BOSH_DEPLOYMENT. `slipway deployments` lists them.",
});

export const BadLogins = defineError<{ path: string; why: string }>({
  code: "CLI-013",
  kind: "operator",
  message: (p) => `the file of remembered environments ${p.path} cannot be used: ${p.why}`,
  next: "Correct it, or remove it and log in again.",
});

export const BadCaCert = defineError<{ given: string }>({
  code: "CLI-014",
  kind: "operator",
  typed: true,
  message: (p) => `the authority's certificate could not be read: ${p.given}`,
  next: "Give --ca-cert or BOSH_CA_CERT the path of a PEM file, or its text.",
});

export const BadEnvFile = defineError<{ path: string; why: string }>({
  code: "CLI-015",
  kind: "operator",
  message: (p) => `the environment file ${p.path} cannot be used: ${p.why}`,
  next: "`slipway up` writes it again. Or name the Director with -e, --ca-cert and BOSH_CLIENT, BOSH_CLIENT_SECRET.",
});

export const NoCredentials = defineError<{ what: string }>({
  code: "CLI-016",
  kind: "operator",
  message: (p) => `${p.what} is missing`,
  next: "Answer when asked, or set BOSH_CLIENT and BOSH_CLIENT_SECRET.",
});

export const LoginFailed = defineError<{ url: string; user: string }>({
  code: "CLI-017",
  kind: "operator",
  message: (p) => `the Director at ${p.url} does not know '${p.user}' by this password`,
  next: "Check name and password. Those of `slipway up` stand in the file `env` of the directory that `slipway status` shows.",
});

export const UaaRefused = defineError<{ url: string; client: string }>({
  code: "CLI-018",
  kind: "operator",
  message: (p) => `the UAA at ${p.url} gives '${p.client}' no token`,
  next: "Check the name and the password or secret. A log-in that is too old has to be made again: `slipway log-in`.",
});

export const UaaAway = defineError<{ url: string; why: string }>({
  code: "CLI-019",
  kind: "outside",
  message: (p) => `the UAA at ${p.url} cannot be asked: ${p.why}`,
  next: "See that it runs, and that its certificate is of the authority that --ca-cert or BOSH_CA_CERT names.",
});

export const BadUaaUrl = defineError<{ url: string }>({
  code: "CLI-009",
  kind: "outside",
  message: (p) => `the Director names '${p.url}' as its UAA, which is no https address`,
  next: "Correct `uaa.url` of the Director's configuration.",
});

export const NoSuchAlias = defineError<{ alias: string }>({
  code: "CLI-008",
  kind: "operator",
  typed: true,
  message: (p) => `no environment is remembered as '${p.alias}'`,
  next: "`slipway environments` lists those that are.",
});
