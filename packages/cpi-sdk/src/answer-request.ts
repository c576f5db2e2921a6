import { type Clock, systemClock } from "@slipway/kernel/clock";
import { withDeadline } from "@slipway/kernel/deadline";
import { messageTrail, SlipwayError, toError } from "@slipway/kernel/errors";
import { type Random, systemRandom } from "@slipway/kernel/random";
import { type ApiVersion, knownVersion, NEWEST_API_VERSION } from "@slipway/protocol/cpi/api-version";
import { cpiContext, stemcellVersion } from "@slipway/protocol/cpi/context";
import { methodDeadlineMs } from "@slipway/protocol/cpi/deadline";
import { draftResult } from "@slipway/protocol/cpi/draft-results";
import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import { CPI_ERRORS } from "@slipway/protocol/cpi/errors";
import { argsIn, camel, existsIn, type Method, resultIn } from "@slipway/protocol/cpi/method";
import { methodNamed } from "@slipway/protocol/cpi/methods";
import { nothing } from "@slipway/protocol/cpi/methods/_common";
import { negotiate } from "@slipway/protocol/negotiate";
import { check, kindOf } from "@slipway/protocol/schema/check";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { secretsIn } from "@slipway/protocol/schema/redact";
import { withoutNulls } from "@slipway/protocol/schema/without-nulls";
import { networks } from "@slipway/protocol/settings/networks";
import { mergeContext, readOwn, readReportedVersion, readShared, sharedProperties } from "./config.ts";
import type { Cpi } from "./cpi.ts";
import { toShipped } from "./draft-arguments.ts";
import { CpiFailure, cpiError, failureText, notImplemented, notSupported } from "./errors.ts";
import { BoundedText, makeLog, scrubber, wellFormed } from "./log.ts";
import { info } from "./methods/info.ts";
import { methodTable } from "./methods.ts";
import { readRequest } from "./request.ts";
import { callOf, handlerOf, type RunningCall } from "./running-call.ts";

/** Environment of a call. Everything but the properties has a default. */
export interface CallEnvironment {
  /** The properties of the configuration file; may throw, which becomes the answer. */
  readonly properties: () => JsonObject;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Log lines as they come. */
  readonly stream?: (line: string) => void;
  readonly signal?: AbortSignal;
  /** Receives the secrets of the call before anything is printed. */
  readonly onSecrets?: (secrets: readonly string[]) => void;
}

const LONGEST_MESSAGE = 16 * 1024;

/** Answers one request, whatever it is. Never throws: every failure is a reply. */
export async function answer(cpi: Cpi, input: unknown, around: CallEnvironment): Promise<CpiResponse> {
  const kept = new BoundedText();
  let scrub = scrubber([]);
  try {
    const request = readRequest(input);
    const file = attempt(around.properties);
    const secrets = secretsOf(cpi, request, file.ok ? file.value : {});
    around.onSecrets?.(secrets);
    scrub = scrubber(secrets);
    const clock = around.clock ?? systemClock;
    const label = `[${request.context.request_id ?? "-"}] ${request.method}`;
    const sinks = [(line: string) => kept.add(line), ...(around.stream ? [around.stream] : [])];
    const log = makeLog(label, clock, scrub, sinks);
    if (!file.ok) throw file.error;
    const result = await perform(cpi, request, file.value, { ...around, clock, log });
    return {
      result: (result ?? null) as NonNullable<CpiResponse["result"]> | null,
      error: null,
      log: kept.toString(),
    };
  } catch (thrown) {
    return { result: null, error: errorBody(thrown, scrub), log: kept.toString() };
  }
}

type Around = CallEnvironment & { readonly clock: Clock; readonly log: RunningCall["log"] };

async function perform(
  cpi: Cpi,
  request: CpiRequest,
  properties: JsonObject,
  around: Around,
): Promise<unknown> {
  const method = methodNamed(request.method);
  if (method === undefined) throw notImplemented(request.method);
  const merged = mergeContext(properties, cpi.name, request.context);
  if (method.name === "info") {
    namedArguments(method, NEWEST_API_VERSION, request.arguments);
    return info(cpi, readReportedVersion(merged));
  }
  const version = requestedVersion(cpi, request);
  if (method.name === "ping") {
    namedArguments(method, version, request.arguments);
    return "pong";
  }
  const implemented = handlerOf(cpi, camel(method.name)) !== undefined && existsIn(method, version);
  if (!implemented)
    throw method.name === "configure_networks" ? noConfigureNetworks() : notImplemented(method.name);

  const shipped = toShipped(request, version, cpi.capabilities);
  const args = { ...namedArguments(method, version, shipped.args), bootstrap: shipped.bootstrap };
  const shared = readShared(merged);
  const config = readOwn(cpi.config, merged, cpi.name);
  const mix = negotiate({ director: version, cpi: version, stemcell: stemcellVersion(request.context) });
  if (mix.outcome === "refused") throw cpiError(mix.problems.join("; "));

  const deadline =
    cpi.deadlinesMs?.[request.method as "default"] ??
    cpi.deadlinesMs?.default ??
    methodDeadlineMs(method.name);
  around.signal?.throwIfAborted();
  return await withDeadlineAndGrace(method.name, deadline, around, async (signal) => {
    const running: RunningCall = {
      cpi,
      request,
      method,
      version,
      args,
      disks: shipped.disks,
      registryless: mix.registryless,
      stemcellUnknown: stemcellVersion(request.context) === undefined,
      registry: mix.registryless || cpi.settings !== undefined ? undefined : shared.registry,
      agent: shared.agent,
      config,
      stateDir: cpi.stateDir?.(config),
      log: around.log,
      clock: around.clock,
      random: around.random ?? systemRandom,
      signal,
    };
    return checkedResult(running, await run(running));
  });
}

/** The create methods see to their own cleanup when they are cut off, so they are waited for; the others are not. */
async function withDeadlineAndGrace<T>(
  name: string,
  ms: number,
  around: Around,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  let started: Promise<T> | undefined;
  try {
    return await withDeadline(name, ms, around.clock, around.signal, (signal) => {
      started = work(signal);
      return started;
    });
  } catch (error) {
    if (methodNamed(name)?.repeat === "creates" && started !== undefined) return await started;
    throw error;
  }
}

async function run(running: RunningCall): Promise<unknown> {
  const special = await methodTable(running.method.name);
  if (special !== undefined) return await special(running);
  return await handlerOf(running.cpi, camel(running.method.name))?.(running.args, callOf(running));
}

function requestedVersion(cpi: Cpi, request: CpiRequest): ApiVersion {
  const asked = request.api_version ?? 1;
  const highest = cpi.apiVersion ?? NEWEST_API_VERSION;
  if (asked > highest) {
    throw new CpiFailure(
      "NotImplemented",
      `CPI API version requested is '${asked}', max supported is '${highest}'`,
    );
  }
  return knownVersion(asked);
}

const noConfigureNetworks = () =>
  notSupported("configure_networks is not supported: recreate the VM instead");

function namedArguments(
  method: Method,
  version: ApiVersion,
  values: readonly unknown[],
): Record<string, unknown> {
  const wanted = argsIn(method, version);
  if (values.length !== wanted.length) {
    const names = wanted.map((argument) => argument.name).join(", ");
    throw cpiError(
      `Arguments are not correct, details: '${method.name} takes ${wanted.length} (${names || "none"}) under api_version ${version}, got ${values.length}'`,
    );
  }
  const problems: string[] = [];
  const named = wanted.map((argument, at) => {
    // Authors get networks without nulls; what belongs to the manifest's author stays as it came.
    const value = argument.schema === networks ? withoutNulls(values[at]) : values[at];
    const checked = check(argument.schema, value, `arguments[${at}] (${argument.name})`);
    if (!checked.ok) problems.push(...checked.problems);
    return [camel(argument.name), value] as const;
  });
  if (problems.length > 0) throw cpiError(`Arguments are not correct, details: '${problems.join("; ")}'`);
  return Object.fromEntries(named);
}

/** Results are checked like arguments: a CPI's mistake is reported as one, not passed on. */
function checkedResult(running: RunningCall, value: unknown): unknown {
  const { method, version, cpi } = running;
  const schema = draftResult(method.name, version, cpi.capabilities) ?? resultIn(method, version).schema;
  const checked = check(schema, value, `${method.name} result`);
  if (!checked.ok) {
    throw cpiError(
      `the CPI broke its contract, it returned ${kindOf(value)}: ${checked.problems.join("; ")}`,
    );
  }
  return schema === nothing ? null : value;
}

function errorBody(thrown: unknown, scrub: (text: string) => string): NonNullable<CpiResponse["error"]> {
  const error = toError(thrown);
  const failure = error instanceof CpiFailure ? error : undefined;
  const bug = error instanceof SlipwayError && error.kind === "bug";
  const type = failure?.type ?? CPI_ERRORS[bug ? "CpiError" : "CloudError"].type;
  const text = error instanceof SlipwayError ? failureText(error) : messageTrail(error) || error.name;
  return {
    type,
    message: wellFormed(scrub(text).slice(0, LONGEST_MESSAGE)),
    ok_to_retry: failure?.okToRetry ?? false,
  };
}

function secretsOf(cpi: Cpi, request: CpiRequest, properties: JsonObject): string[] {
  const args = methodNamed(request.method)?.args ?? [];
  return [
    ...secretsIn(cpiContext, request.context),
    ...args.flatMap((argument, at) => secretsIn(argument.schema, request.arguments[at])),
    ...secretsIn(sharedProperties, properties),
    ...secretsIn(cpi.config, properties[cpi.name]),
    ...secretsIn(cpi.config, request.context),
    ...secretsIn(cpi.config, request.context[cpi.name]),
  ];
}

function attempt<T>(
  work: () => T,
): { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown } {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return { ok: false, error };
  }
}
