import { defineError } from "@slipway/kernel/errors";

export const NotReachable = defineError<{ url: string; why: string }>({
  code: "CLI-020",
  kind: "outside",
  message: (p) => `no Director answers at ${p.url}: ${p.why}`,
  next: "If it is the one of this machine, `slipway up` starts it. Otherwise check the address (-e, BOSH_ENVIRONMENT) and the network.",
});

export const CertificateRefused = defineError<{ url: string; why: string }>({
  code: "CLI-021",
  kind: "outside",
  message: (p) => `the certificate of the Director at ${p.url} is not trusted: ${p.why}`,
  next: "Give the certificate of its authority with --ca-cert or BOSH_CA_CERT, and call the Director by a name or address that its certificate holds.",
});

export const Unauthorized = defineError<{ url: string; user: string | undefined }>({
  code: "CLI-022",
  kind: "operator",
  message: (p) =>
    p.user === undefined
      ? `the Director at ${p.url} wants to know who you are`
      : `the Director at ${p.url} does not accept the name and password of '${p.user}'`,
  next: "Log in with `slipway log-in`, or set BOSH_CLIENT and BOSH_CLIENT_SECRET.",
});

export const UaaWanted = defineError<{ url: string; user: string | undefined }>({
  code: "CLI-023",
  kind: "operator",
  message: (p) =>
    p.user === undefined
      ? `the Director at ${p.url} wants a token of its UAA`
      : `the Director at ${p.url} does not accept the token of '${p.user}'`,
  next: "Log in with `slipway log-in`, or give a client of the UAA with --client and --client-secret.",
});

export const DirectorRefused = defineError<{
  what: string;
  status: number;
  directorCode: number | undefined;
  description: string;
  advice: string;
}>({
  code: "CLI-024",
  kind: "operator",
  message: (p) =>
    `the Director refused ${p.directorCode === undefined ? p.what : "this"}: ${p.description} (${p.directorCode === undefined ? "" : `code ${p.directorCode}, `}status ${p.status})`,
  next: "{advice}",
});

export const OddAnswer = defineError<{ what: string; why: string }>({
  code: "CLI-025",
  kind: "outside",
  message: (p) => `invalid response of the Director to ${p.what}: ${p.why}`,
  next: "Check that the address is a BOSH Director's, and not of something before or beside it.",
});

export const TaskFailed = defineError<{ id: number; state: string; why: string; advice: string }>({
  code: "CLI-026",
  kind: "outside",
  message: (p) => `task ${p.id} ended as ${p.state}${p.why === "" ? "" : `: ${p.why}`}`,
  next: "{advice}`slipway task {id} --debug` shows what the Director did, `slipway explain --task {id}` whom it talked to.",
});
