import { isIPv4 } from "node:net";
import { parseArgs } from "node:util";
import { errorText, toError } from "@slipway/kernel/errors";
import { BadJson } from "@slipway/kernel/strict-json";
import { readConfig } from "./config.ts";
import { BadUsage, BadUsers, ConfigInvalid, ConfigUnreadable } from "./errors.ts";
import { DEFAULT_HOST, type RegistryOptions, startRegistry } from "./server.ts";
import { VERSION } from "./version.ts";

export interface ProgramIo {
  readonly out: { write(text: string): unknown };
  readonly err: { write(text: string): unknown };
  /** Aborted when the program is asked to end. */
  readonly stop: AbortSignal;
}

const HELP = `slipway-registry: the v1 registry for CPIs and agents that still need one

  slipway-registry --config FILE   run until SIGTERM or SIGINT
  slipway-registry --help          print this
  slipway-registry --version       print the version

FILE is JSON. Relative paths in it start at its own directory.

  {
    "http": {
      "host": "127.0.0.1",
      "port": 25777,
      "user": "registry",
      "password": "...",
      "additional_users": [{"username": "...", "password": "..."}],
      "tls": {"cert_file": "registry.crt", "key_file": "registry.key"}
    },
    "dir": "state"
  }

host, port, additional_users and tls may be left out.
`;

/** Runs the program; resolves to its exit code: 0 ended as asked, 1 failed, 2 called or configured wrongly. */
export async function run(argv: readonly string[], io: ProgramIo): Promise<number> {
  try {
    const flags = flagsOf(argv);
    if (flags.help) io.out.write(HELP);
    else if (flags.version) io.out.write(`slipway-registry ${VERSION}\n`);
    else if (flags.config === undefined) throw BadUsage({ why: "--config is missing" });
    else await serve(await readConfig(flags.config), io);
    return 0;
  } catch (error) {
    io.err.write(`${errorText(error)}\n`);
    return isOperatorMistake(error) ? 2 : 1;
  }
}

const isOperatorMistake = (error: unknown) =>
  [BadUsage, BadUsers, BadJson, ConfigInvalid, ConfigUnreadable].some((mistake) => mistake.is(error));

interface Flags {
  readonly config?: string;
  readonly help?: boolean;
  readonly version?: boolean;
}

function flagsOf(argv: readonly string[]): Flags {
  try {
    const options = {
      config: { type: "string" },
      help: { type: "boolean" },
      version: { type: "boolean" },
    } as const;
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw BadUsage({ why: toError(error).message });
  }
}

async function serve(options: RegistryOptions, io: ProgramIo): Promise<void> {
  const registry = await startRegistry({
    ...options,
    onError: (error) => io.err.write(`${errorText(error)}\n`),
  });
  if (options.tls === undefined && !isLoopback(options.host ?? DEFAULT_HOST)) {
    io.err.write(
      "warning: plain HTTP beyond this machine; settings and passwords can be read on the way. Set http.tls.\n",
    );
  }
  const entries = registry.entriesAtStart === 1 ? "1 entry" : `${registry.entriesAtStart} entries`;
  io.out.write(`registry listening on ${registry.url} (state in ${options.dir}, ${entries})\n`);
  await stopped(io.stop);
  await registry.close();
  io.out.write("registry stopped\n");
}

const isLoopback = (host: string) =>
  host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));

const stopped = (stop: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener("abort", () => resolve(), { once: true });
  });
