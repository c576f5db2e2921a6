import { readFileSync } from "node:fs";
import { toError } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import { CPI_ERRORS } from "@slipway/protocol/cpi/errors";
import { answer } from "./answer.ts";
import { propertiesOf } from "./config.ts";
import type { Cpi } from "./cpi.ts";
import { BadConfig, Interrupted } from "./errors.ts";
import { scrubber } from "./log.ts";

const LARGEST_REQUEST = 32 * 1024 * 1024;

/**
 * Runs a CPI as the executable BOSH calls: one request on stdin, one reply on stdout, logs on stderr, exit code 0
 * whenever a reply was printed. `--configFile FILE` names the configuration.
 */
export function serve(cpi: Cpi, argv: readonly string[] = process.argv.slice(2)): void {
  const output = takeOverOutput();
  const stop = new AbortController();
  let method = "the call";
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => stop.abort(Interrupted({ method, signal })));
  }
  // Whatever escapes a method's promise is still an answer.
  const escaped = (thrown: unknown) =>
    output.reply(failure("CloudError", `uncaught in ${method}: ${toError(thrown).message}`));
  process.on("uncaughtException", escaped);
  process.on("unhandledRejection", escaped);

  readAll()
    .then(async (input) => {
      if (input.length > LARGEST_REQUEST) {
        return failure(
          "CpiError",
          `Request cannot be deserialized, details: larger than ${LARGEST_REQUEST >> 20} MiB`,
        );
      }
      const request = parseRequest(input);
      if ("error" in request) return request;
      const asked = (request.value as { method?: unknown } | null)?.method;
      if (typeof asked === "string") method = asked.slice(0, 64);
      return await answer(cpi, request.value, {
        properties: () => propertiesFrom(argv),
        stream: output.log,
        signal: stop.signal,
        onSecrets: output.hide,
      });
    })
    .then(output.reply, escaped);
}

async function readAll(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Too much is read to its end and thrown away: a caller that writes to a closed pipe would not read our answer.
    if (length <= LARGEST_REQUEST) chunks.push(chunk);
    else chunks.length = 0;
  }
  return length <= LARGEST_REQUEST ? Buffer.concat(chunks) : Buffer.alloc(LARGEST_REQUEST + 1);
}

function parseRequest(input: Buffer): { readonly value: unknown } | CpiResponse {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(input);
    return { value: parseStrictJson(text, "the request") };
  } catch (error) {
    const why = error instanceof TypeError ? "the request is not UTF-8" : toError(error).message;
    return failure("CpiError", `Request cannot be deserialized, details: ${why}`);
  }
}

function propertiesFrom(argv: readonly string[]) {
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
  const at = argv.findIndex((word) => /^--?(configFile|config)(=|$)/.test(word));
  if (at === -1) {
    if (argv.length > 0)
      throw BadConfig({ what: "command line", problems: ["only --configFile FILE is understood"] });
    return undefined;
  }
  const word = argv[at] ?? "";
  const path = word.includes("=") ? word.slice(word.indexOf("=") + 1) : argv[at + 1];
  if (path === undefined || path === "")
    throw BadConfig({ what: "command line", problems: ["--configFile needs a path"] });
  return path;
}

const failure = (name: keyof typeof CPI_ERRORS, message: string): CpiResponse => ({
  result: null,
  error: { type: CPI_ERRORS[name].type, message, ok_to_retry: false },
  log: "",
});

interface Output {
  readonly log: (line: string) => void;
  readonly hide: (secrets: readonly string[]) => void;
  readonly reply: (response: CpiResponse) => void;
}

/**
 * Keeps stdout for the one reply: whatever else is printed there goes to stderr, and nothing that goes to stderr
 * shows a secret of the call.
 */
function takeOverOutput(): Output {
  const { stdout, stderr } = process;
  const toStdout = stdout.write.bind(stdout);
  const toStderr = stderr.write.bind(stderr);
  let scrub = scrubber([]);
  let replied = false;
  type Write = typeof stdout.write;
  const divert = ((chunk: string | Uint8Array, encoding?: unknown, done?: unknown) => {
    const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    const callback = typeof encoding === "function" ? encoding : done;
    return toStderr(scrub(text), callback as () => void);
  }) as Write;
  stdout.write = divert;
  stderr.write = divert;
  // The caller may have gone: nobody is left to tell.
  stdout.on("error", () => process.exit(0));
  stderr.on("error", () => undefined);
  return {
    log: (line) => void toStderr(line),
    hide: (secrets) => {
      scrub = scrubber(secrets);
    },
    reply: (response) => {
      if (replied) return;
      replied = true;
      // Handles a method left open must not keep the caller waiting.
      toStdout(`${encode(response)}\n`, () => process.exit(0));
    },
  };
}

function encode(response: CpiResponse): string {
  try {
    return JSON.stringify(response);
  } catch {
    return JSON.stringify(
      failure("CpiError", "the CPI broke its contract: its result cannot be written as JSON"),
    );
  }
}
