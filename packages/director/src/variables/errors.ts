import { defineError } from "@slipway/kernel/errors";

/** DIV-02x: config servers that are other programs. Never a value, never what a server has said instead of one. */

export const FetchFailed = defineError<{ name: string; id?: string | undefined; why: string }>({
  code: "DIV-020",
  kind: "outside",
  number: 540001,
  message: (p) =>
    `Failed to fetch variable '${p.name}'${p.id === undefined ? "" : ` with id '${p.id}'`} from config server: ${p.why}`,
  next: "Look at the config server's log, and run the command again.",
});

export const ConfigServerAway = defineError<{ doing: string; url: string; why: string }>({
  code: "DIV-021",
  kind: "outside",
  number: 540003,
  message: (p) => `${p.doing}: the config server ${p.url} cannot be asked: ${p.why}`,
  next: "See that it runs and that `config_server` of the Director's configuration names its address and CA, then run the command again.",
});

export const NoToken = defineError<{ url: string; why: string }>({
  code: "DIV-022",
  kind: "outside",
  number: 610000,
  message: (p) => `Failed to obtain valid token from UAA: ${p.url}: ${p.why}`,
  next: "Check `config_server.uaa` of the Director's configuration: its url, ca, client_id and client_secret.",
});

export const GenerationRefused = defineError<{ name: string; type: string; why: string }>({
  code: "DIV-023",
  kind: "outside",
  number: 540005,
  message: (p) => `Config Server failed to generate value for '${p.name}' with type '${p.type}'. ${p.why}`,
  next: "Correct its definition under `variables`, or see the config server's log, and deploy again.",
});

export const CaUnreadable = defineError<{ what: string; path: string }>({
  code: "DIV-024",
  kind: "operator",
  message: (p) => `${p.what} of the Director's configuration is neither a certificate nor a file: ${p.path}`,
  next: "Give the CA certificate as PEM text, or the path of a file with it.",
});
