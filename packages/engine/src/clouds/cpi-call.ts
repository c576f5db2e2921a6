import { messageTrail } from "@slipway/kernel/errors";
import type { ApiVersion } from "@slipway/protocol/cpi/api-version";
import { type CpiContext, cpiContext } from "@slipway/protocol/cpi/context";
import {
  type CpiErrorBody,
  type CpiRequest,
  type CpiResponse,
  redactRequest,
} from "@slipway/protocol/cpi/envelope";
import { CPI_ERRORS, type CpiErrorName, errorNameOf } from "@slipway/protocol/cpi/errors";
import { resultIn } from "@slipway/protocol/cpi/method";
import { CPI_METHODS, type CpiMethodName, methodNamed } from "@slipway/protocol/cpi/methods";
import { nothing } from "@slipway/protocol/cpi/methods/_common";
import type { DirectorUuid, RequestId } from "@slipway/protocol/ids";
import { kindOf } from "@slipway/protocol/schema/check";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { Schema } from "@slipway/protocol/schema/marks";
import { redact, secretsIn } from "@slipway/protocol/schema/redact";
import { hiddenFrom, type Scrub, ScrubbedLines, scrubber } from "@slipway/protocol/schema/scrub";
import { disks } from "@slipway/protocol/settings/disks";
import { cloudProperties } from "@slipway/protocol/settings/networks";
import type { CallRecord, CallStart } from "../call-log/call-log.ts";
import { mapStrings, withoutPem } from "../call-log/tidy.ts";
import { CpiLost, CpiRefused } from "./cloud.ts";
import { type CpiPort, deadlineFor } from "./cpi-port.ts";
import { inMethod } from "./reply.ts";

/** Caller of a CPI: the same for every call of one CPI. */
export interface Caller {
  readonly port: CpiPort;
  readonly directorUuid: DirectorUuid;
  /** Merged flat into the context, as upstream does. */
  readonly properties: JsonObject;
  /** Longest time of one call; default: by method. */
  readonly longestMs: number | undefined;
}

/** Records one call to the CPI. */
export type RecordCall = (call: Omit<CallStart, "to">) => CallRecord;

interface CpiCall {
  readonly method: CpiMethodName;
  readonly arguments: readonly unknown[];
  /** Undefined for the `info` that finds it out. */
  readonly apiVersion: ApiVersion | undefined;
  readonly requestId: RequestId;
  readonly vm?: NonNullable<CpiContext["vm"]> | undefined;
  /** Context that only some mixes need. */
  readonly more?: JsonObject | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly log?: ((text: string) => void) | undefined;
  readonly record?: RecordCall | undefined;
}

/** One call, logged without its secrets. Its result as it came, or `CpiRefused` or `CpiLost`. */
export async function callCpi(caller: Caller, call: CpiCall): Promise<unknown> {
  const request = requestOf(caller, call);
  const shown = redactRequest(request);
  const record = call.record?.({
    message: call.method,
    requestId: call.requestId,
    apiVersion: call.apiVersion,
    stemcellApiVersion: call.vm?.stemcell?.api_version ?? undefined,
    registry: call.more?.registry !== undefined,
    request: shown.arguments,
  });
  try {
    const { result, answer } = await persistently(call, () => exchange(caller, call, request, shown));
    record?.answered(answer());
    return result;
  } catch (error) {
    record?.failed(messageTrail(error));
    throw error;
  }
}

/** These change nothing: a CPI that was ended from outside is asked once more. */
const READS: ReadonlySet<CpiMethodName> = new Set([
  "info",
  "has_vm",
  "has_disk",
  "get_disks",
  "get_vm_log",
  "list_resources",
  "calculate_vm_cloud_properties",
]);
const MOST_KILLED = 3;

async function persistently<T>({ method, log, requestId }: CpiCall, work: () => Promise<T>): Promise<T> {
  for (let killed = 1; ; killed++) {
    try {
      return await work();
    } catch (error) {
      const again = error instanceof CpiLost && error.killedBy !== undefined && READS.has(method);
      if (!again || killed > MOST_KILLED) throw error;
      log?.(`[external-cpi] [${requestId}] ended from outside (${error.killedBy}); asked again\n`);
    }
  }
}

/** `answer`: the result without its secrets, for the call log. */
async function exchange(
  caller: Caller,
  call: CpiCall,
  request: CpiRequest,
  shown: unknown,
): Promise<{ readonly result: unknown; readonly answer: () => unknown }> {
  const secrets = secretsOf(request);
  const write = call.log ?? (() => undefined);
  const label = `[external-cpi] [${call.requestId}]`;
  write(
    `${label} request: ${JSON.stringify(mapStrings(shown, withoutPem))} with command: ${caller.port.command}\n`,
  );
  const logged = new LogStart();
  const lastWords = new LastWords();
  const lines = new ScrubbedLines(secrets, (text) => {
    logged.add(text);
    lastWords.add(text);
    write(text);
  });
  const hide = scrubber(() => [...secrets, ...hiddenFrom(request, shown)]);
  let reply: CpiResponse;
  try {
    reply = await caller.port.call(request, {
      deadlineMs: deadlineFor(call.method, caller.longestMs),
      signal: call.signal,
      log: (text) => lines.add(text),
      hide,
    });
  } catch (error) {
    lines.end();
    throw error instanceof CpiLost ? withWords(error, hide(lastWords.text)) : error;
  }
  lines.end();
  const schema = resultSchema(call);
  const scrub = scrubber(() => [...secrets, ...secretsIn(schema, reply.result)]);
  // CPIs of our SDK say the same on stderr and in the reply.
  const log = scrub(reply.log);
  if (log !== "" && !logged.includes(log)) write(log.endsWith("\n") ? log : `${log}\n`);
  const seen = shownReply(schema, reply);
  write(`${label} response: ${brief(scrub(JSON.stringify(mapStrings(seen, withoutPem))))}\n`);
  if (reply.error !== null) throw refusal(request, reply.error, scrub);
  return { result: reply.result, answer: () => mapStrings(seen.result, scrub) };
}

/** Callers send these keys in this order. */
function requestOf(caller: Caller, call: CpiCall): CpiRequest {
  return {
    method: call.method,
    arguments: [...call.arguments],
    context: {
      director_uuid: caller.directorUuid,
      request_id: call.requestId,
      ...(call.vm !== undefined && { vm: call.vm }),
      ...call.more,
      ...caller.properties,
    },
    ...(call.apiVersion !== undefined && { api_version: call.apiVersion }),
  };
}

function resultSchema({ method, apiVersion }: CpiCall): Schema {
  // Not marked on the wire, where it is only a result; as an argument it is hidden.
  if (method === "calculate_vm_cloud_properties") return cloudProperties;
  return resultIn(CPI_METHODS[method], apiVersion ?? 1).schema;
}

function shownReply(
  schema: Schema,
  { result, error }: CpiResponse,
): { readonly result: unknown; readonly error: unknown } {
  if (error !== null) {
    return {
      result: null,
      error: { type: error.type, message: error.message, ok_to_retry: error.ok_to_retry },
    };
  }
  const ignored = schema === nothing && result !== null;
  return { result: ignored ? `(${kindOf(result)}, ignored)` : redact(schema, result), error: null };
}

/** Types upstream's Director has no class for. */
const UNKNOWN_UPSTREAM: readonly CpiErrorName[] = [
  "StemcellNotFound",
  "InvalidCall",
  "Unknown",
  "CPIAPIVersionNotSupported",
  "AttachDiskResponseError",
];

function refusal(request: CpiRequest, error: CpiErrorBody, scrub: Scrub): CpiRefused {
  const name = errorNameOf(error.type, error.message);
  const known = name !== undefined && !UNKNOWN_UPSTREAM.includes(name);
  const message = `${known ? "CPI" : "Unknown CPI"} error '${error.type}' with message '${error.message}' ${inMethod(request)}`;
  return new CpiRefused({
    method: request.method,
    type: error.type,
    errorName: name,
    message: brief(scrub(message)),
    // Of other types upstream reads the flag and drops it.
    okToRetry: error.ok_to_retry && name !== undefined && CPI_ERRORS[name].retryFlag,
  });
}

const LONGEST_TEXT = 16 * 1024;
const brief = (text: string): string =>
  text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}... (${text.length} characters)` : text;

/** Without an answer, what it logged last is all it said. */
function withWords({ method, message, cause, killedBy, stack }: CpiLost, words: string): CpiLost {
  const said = words === "" ? "" : `; the last it logged: '${words}'`;
  return Object.assign(new CpiLost(method, `${message}${said}`, { cause, killedBy }), { stack });
}

const LAST_LINES = 5;
const LAST_CHARS = 500;

/** The end of what the CPI logged during the call; lines of ours are left out. */
class LastWords {
  #lines: readonly string[] = [];

  add(text: string): void {
    const said = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("[external-cpi]"));
    this.#lines = [...this.#lines, ...said].slice(-LAST_LINES);
  }

  get text(): string {
    const all = this.#lines.map((line) => line.trim()).join(" | ");
    return all.length > LAST_CHARS ? `...${all.slice(-LAST_CHARS)}` : all;
  }
}

const KEPT_CHARS = 512 * 1024;

/** The beginning of what the CPI logged during the call. */
class LogStart {
  #text = "";

  add(text: string): void {
    if (this.#text.length < KEPT_CHARS) this.#text += text;
  }

  includes(text: string): boolean {
    return this.#text.includes(text);
  }
}

/** The credentials of a call, for texts the CPI writes. */
function secretsOf(request: CpiRequest): readonly string[] {
  const args = methodNamed(request.method)?.args ?? [];
  return [
    ...secretsIn(cpiContext, request.context),
    ...request.arguments.flatMap((value, at) => secretsIn(args[at]?.schema ?? disks, value)),
  ];
}
