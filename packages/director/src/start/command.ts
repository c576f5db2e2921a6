import { parseArgs } from "node:util";
import { systemClock } from "@slipway/kernel/clock";
import { defineError, errorText, messageTrail, SlipwayError, toError } from "@slipway/kernel/errors";
import { systemRandom } from "@slipway/kernel/random";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { defaultStateDir } from "../store/embedded/places.ts";
import { readConfig, TAKEN_OVER, withEnvironment } from "./configuration.ts";
import { type Director, startDirector } from "./director.ts";
import { acceptedIn } from "./identity.ts";
import { VERSION } from "./version.ts";

export const BadUsage = defineError<{ problem: string }>({
  code: "DIR-003",
  kind: "operator",
  typed: true,
  message: (p) => p.problem,
  next: "Run it with --help to see how it is called.",
});

export const ReloadFailed = defineError<Record<never, never>>({
  code: "DIR-007",
  kind: "operator",
  message: () => "the configuration was not taken over; the Director goes on with the one before",
  next: "Correct the file and send SIGHUP again.",
});

interface Io {
  readonly out: { write(text: string): unknown };
  readonly err: { write(text: string): unknown };
  /** Aborted when the program is asked to end. */
  readonly stop: AbortSignal;
  /** Calls back whenever the configuration is to be read again. */
  readonly onReload?: ((reload: () => void) => void) | undefined;
  /** Path of the program itself. */
  readonly script?: string | undefined;
}

const NAME = "slipway-director";

const HELP = `${NAME}: a BOSH Director. The bosh CLI drives it, any CPI serves it.

  ${NAME} [--config FILE] [--state-dir DIR] [--port N] [--accept WHAT]
  ${NAME} --check --config FILE
  ${NAME} --help | --version

  --config FILE      YAML (.yml) or JSON; without one everything has a default
  --check            says what is wrong with the file, all of it, and ends
  --state-dir DIR    everything it keeps: database, certificates, uploads
  --port N           where the API listens; 25555
  --accept WHAT      once, what was changed on purpose: cpi, keys, users, name
`;

/** Runs until a signal stops it; resolves to the exit code: 1 failed, 2 called wrongly. */
export async function runDirector(argv: readonly string[], io: Io): Promise<number> {
  try {
    const { values } = readArguments(argv);
    if (values.help === true) return said(io, HELP);
    if (values.version === true) return said(io, `${VERSION}\n`);
    const accept = acceptedIn(values.accept);
    const configure = async () =>
      withFlags(withEnvironment(await readConfig(values.config), process.env), values);
    const config = await configure();
    if (values.check === true) return said(io, `${values.config ?? "the defaults"}: nothing is wrong\n`);
    const stateDir = config.state_dir ?? defaultStateDir(userId(), process.env);
    const director = await startDirector({
      config,
      stateDir,
      version: VERSION,
      clock: systemClock,
      random: systemRandom,
      script: io.script,
      accept,
      log: (line) => io.err.write(`${line}\n`),
    });
    io.out.write(welcome(director, stateDir));
    // One after the other: the last one has the last word.
    let reloading = Promise.resolve();
    io.onReload?.(() => {
      reloading = reloading.then(() => reload(director, configure));
    });
    await stopped(io.stop);
    io.out.write("Stopping; tasks under way go on at the next start.\n");
    await reloading;
    await director.close();
    return 0;
  } catch (error) {
    io.err.write(`${errorText(toError(error))}\n`);
    return error instanceof SlipwayError && error.typed ? 2 : 1;
  }
}

/** Reads the configuration again. An unusable one is logged, and changes nothing. */
async function reload(director: Director, configure: () => Promise<DirectorConfig>): Promise<void> {
  try {
    const others = await director.reload(await configure());
    director.log.info(`The configuration was read anew; as it says are now: ${TAKEN_OVER.join(", ")}`);
    if (others.length > 0)
      director.log.warn(`What else has changed in the configuration takes a restart: ${others.join(", ")}`);
  } catch (cause) {
    director.log.error(errorText(ReloadFailed({}, { cause })));
  }
}

/** Returns the configuration with the flags, which win. */
const withFlags = (
  config: DirectorConfig,
  flags: { readonly port?: string | undefined; readonly "state-dir"?: string | undefined },
): DirectorConfig => ({
  ...config,
  ...(flags.port !== undefined && { listen: { ...config.listen, port: portOf(flags.port) } }),
  ...(flags["state-dir"] !== undefined && { state_dir: flags["state-dir"] }),
});

const userId = (): number => process.getuid?.() ?? 1;

function said(io: Io, text: string): number {
  io.out.write(text);
  return 0;
}

function readArguments(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        config: { type: "string" },
        check: { type: "boolean" },
        "state-dir": { type: "string" },
        port: { type: "string" },
        accept: { type: "string" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean" },
      },
    });
  } catch (cause) {
    throw BadUsage({ problem: messageTrail(cause) });
  }
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535)
    throw BadUsage({ problem: `--port takes a number up to 65535, got '${text}'` });
  return port;
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function welcome({ url, caFile, admin, adoptedDatabase }: Director, stateDir: string): string {
  const login =
    admin === undefined
      ? []
      : [`  export BOSH_CLIENT=${admin.name}`, `  export BOSH_CLIENT_SECRET=$(cat ${admin.passwordFile})`];
  return [
    `The Director listens at ${url}. State: ${stateDir}`,
    ...(adoptedDatabase
      ? ["The database of a Director that was killed was found running and taken over."]
      : []),
    "",
    "Point the bosh CLI at it:",
    "",
    `  export BOSH_ENVIRONMENT=${url}`,
    `  export BOSH_CA_CERT=${caFile}`,
    ...login,
    "  bosh env",
    "",
    "Ctrl-C stops it.",
    "",
  ].join("\n");
}
