import type { Option, TypedInput } from "../command.ts";

/** Options that every command takes, before or after its name. */
export const GLOBAL_OPTIONS: readonly Option[] = [
  { flags: "-e, --environment <url>", about: "which Director: its URL or an alias [BOSH_ENVIRONMENT]" },
  { flags: "--ca-cert <path>", about: "authority of its certificate, a file or PEM text [BOSH_CA_CERT]" },
  { flags: "--client <name>", about: "user [BOSH_CLIENT]" },
  {
    flags: "--client-secret <password>",
    about: "password; better in BOSH_CLIENT_SECRET, where other processes do not see it",
  },
  { flags: "-d, --deployment <name>", about: "which deployment [BOSH_DEPLOYMENT]", completes: "deployment" },
  { flags: "--column <name>", about: "print only this column of a table", repeats: true },
  { flags: "--json", about: "print JSON in the shape of the bosh CLI" },
  { flags: "--tty", about: "print as to a terminal [BOSH_TTY]" },
  { flags: "--no-color", about: "no colours [NO_COLOR]" },
  { flags: "-n, --non-interactive", about: "do not ask [BOSH_NON_INTERACTIVE]" },
];

export interface Globals {
  readonly environment: string | undefined;
  readonly caCert: string | undefined;
  readonly client: string | undefined;
  readonly clientSecret: string | undefined;
  readonly deployment: string | undefined;
  readonly columns: readonly string[];
  readonly json: boolean;
  readonly tty: boolean;
  readonly color: boolean;
  readonly nonInteractive: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Returns the global options. Typed ones take precedence over the environment. */
export function globalsOf(given: TypedInput, env: Env): Globals {
  const text = (option: string, variable: string) => given.text(option) ?? (env[variable] || undefined);
  const flag = (option: string) => given.flag(option);
  return {
    environment: text("environment", "BOSH_ENVIRONMENT"),
    caCert: text("ca-cert", "BOSH_CA_CERT"),
    client: text("client", "BOSH_CLIENT"),
    clientSecret: text("client-secret", "BOSH_CLIENT_SECRET"),
    deployment: text("deployment", "BOSH_DEPLOYMENT"),
    columns: given.texts("column"),
    json: flag("json"),
    tty: flag("tty") || isOn(env.BOSH_TTY),
    color: !flag("no-color") && (env.NO_COLOR ?? "") === "",
    nonInteractive: flag("non-interactive") || isOn(env.BOSH_NON_INTERACTIVE),
  };
}

/** Reads a boolean as Go does: any value but these is true. */
function isOn(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "f", "false"].includes(value.toLowerCase());
}
