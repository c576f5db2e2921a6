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

export const VariablesElsewhere = defineError<{ url: string }>({
  code: "DIV-025",
  kind: "operator",
  status: 409,
  message: (p) => `values of variables are kept by the config server ${p.url}, not by the Director`,
  next: "Use that server's own program, such as `credhub get`, `credhub set` and `credhub regenerate`; then deploy again.",
});

export const NoSuchVariable = defineError<{ name: string }>({
  code: "DIV-026",
  kind: "operator",
  status: 404,
  message: (p) => `there is no variable '${p.name}'`,
  next: "`slipway -d DEPLOYMENT variables` lists the names that a deployment uses. `slipway variable set` makes one.",
});

export const NotRegenerated = defineError<{ name: string; why: string }>({
  code: "DIV-027",
  kind: "operator",
  status: 409,
  message: (p) => `variable '${p.name}' is not regenerated: ${p.why}`,
  next: "Nothing was changed. `slipway variable set {name}` gives it a value of yours.",
});

export const VariableChanged = defineError<{ name: string }>({
  code: "DIV-028",
  kind: "operator",
  status: 409,
  message: (p) => `variable '${p.name}' was changed by another request meanwhile`,
  next: "Nothing was changed by this one. Look at it, and run the command again if it is still needed.",
});
