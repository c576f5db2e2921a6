import { readFileSync } from "node:fs";
import { toError } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import { CPI_ERRORS } from "@slipway/protocol/cpi/errors";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { answer } from "./answer-request.ts";
import { propertiesOf } from "./config.ts";
import type { Cpi } from "./cpi.ts";
import { BadConfig, cloudError, Interrupted } from "./errors.ts";
import { readAll, takeOverOutput } from "./stdio.ts";

const LARGEST_REQUEST = 32 * 1024 * 1024;

/**
 * Runs a CPI as the executable BOSH calls: one request on stdin, one reply on stdout, logs on stderr, exit code 0
 * whenever a reply was printed. `--configFile FILE` names the configuration.
 */
export function serve(cpi: Cpi, argv: readonly string[] = process.argv.slice(2)): void {
  const output = takeOverOutput();
  const reply = (response: CpiResponse): never => {
    const written = output.reply(`${encode(response)}\n`);
    // Handles a method left open must not keep the caller waiting.
    process.exit(written ? 0 : 1);
  };
  const request = readRequestFrom(() => readAll(LARGEST_REQUEST));
  if ("error" in request) {
    reply(request);
    return;
  }

  const method = methodOf(request.value);
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => stop.abort(Interrupted({ method, signal })));
  }
  // Whatever escapes a method's promise ends the call like any other failure: cleaned up after, secrets left out.
  const escaped = (thrown: unknown) =>
    stop.abort(cloudError(`uncaught in ${method}`, { cause: toError(thrown) }));
  process.on("uncaughtException", escaped);
  process.on("unhandledRejection", escaped);
  answer(cpi, request.value, {
    properties: () => propertiesFrom(argv),
    stream: output.log,
    signal: stop.signal,
    onSecrets: output.hide,
  }).then(reply, () => reply(failure("CpiError", `${method} failed, and so did telling why`)));
}

const methodOf = (request: unknown): string => {
  const name = (request as { readonly method?: unknown } | null)?.method;
  return typeof name === "string" ? name.slice(0, 64) : "the call";
};

function readRequestFrom(read: () => Uint8Array | undefined): { readonly value: unknown } | CpiResponse {
  try {
    const input = read();
    return input === undefined ? tooLarge() : parseRequest(input);
  } catch (error) {
    return failure("CpiError", `Request cannot be read from stdin, details: ${toError(error).message}`);
  }
}

function parseRequest(input: Uint8Array): { readonly value: unknown } | CpiResponse {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(input);
    return { value: parseStrictJson(text, "the request") };
  } catch (error) {
    const why = error instanceof TypeError ? "the request is not UTF-8" : toError(error).message;
    return failure("CpiError", `Request cannot be deserialized, details: ${why}`);
  }
}

const tooLarge = () =>
  failure("CpiError", `Request cannot be deserialized, details: larger than ${LARGEST_REQUEST >> 20} MiB`);

function propertiesFrom(argv: readonly string[]): JsonObject {
  const path = configPath(argv);
  if (path === undefined) return {};
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw BadConfig({ what: path, problems: ["it cannot be read"] }, { cause: error });
  }
  return propertiesOf(parseStrictJson(text, path));
}

/** Both spellings are in use: `--configFile FILE` and, from Go programs, `-configFile=FILE`. */
function configPath(argv: readonly string[]): string | undefined {
  const problem = (text: string) => BadConfig({ what: "command line", problems: [text] });
  const [word = "", value, ...more] = argv;
  if (word === "") return undefined;
  const [, inline] = /^--?configFile(?:=(.*))?$/.exec(word) ?? [];
  const understood =
    /^--?configFile(=|$)/.test(word) && (inline === undefined ? more.length === 0 : value === undefined);
  if (!understood) throw problem("only --configFile FILE is understood");
  const path = inline ?? value;
  if (path === undefined || path === "") throw problem("--configFile needs a path");
  return path;
}

const failure = (name: keyof typeof CPI_ERRORS, message: string): CpiResponse => ({
  result: null,
  error: { type: CPI_ERRORS[name].type, message, ok_to_retry: false },
  log: "",
});

function encode(response: CpiResponse): string {
  try {
    return JSON.stringify(response);
  } catch {
    return JSON.stringify(
      failure("CpiError", "the CPI broke its contract: its result cannot be written as JSON"),
    );
  }
}
