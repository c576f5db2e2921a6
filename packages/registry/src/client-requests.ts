import { type Backoff, retry } from "@slipway/kernel/backoff";
import { systemClock } from "@slipway/kernel/clock";
import type { SlipwayError } from "@slipway/kernel/errors";
import { HttpTrouble, requestOnce } from "@slipway/kernel/http/client";
import { systemRandom } from "@slipway/kernel/random";
import { registrySettingsReply, settingsPath } from "@slipway/protocol/registry/documents";
import { check } from "@slipway/protocol/schema/check";
import type { RegistryClientOptions, RegistryEndpoint } from "./client-options.ts";
import {
  CannotSend,
  RegistryDenied,
  RegistryFailed,
  RegistryRefused,
  RegistryReplyInvalid,
  RegistryUnreachable,
} from "./errors.ts";

const BACKOFF: Backoff = { tries: 5, firstDelayMs: 200, longestDelayMs: 3000 };
const ATTEMPT_TIMEOUT_MS = 15_000;
/** A document of 16 MiB can grow sixfold when it is written as a JSON string. */
const REPLY_LIMIT = 128 << 20;

interface Response {
  readonly status: number;
  readonly text: string;
}

interface ClientRequest {
  readonly method: "GET" | "PUT" | "DELETE";
  readonly id: string;
  readonly body?: string;
  readonly what: string;
  readonly accepted: (status: number) => boolean;
}

const success = (status: number) => status >= 200 && status < 300;

export async function put(
  target: RegistryEndpoint,
  options: RegistryClientOptions,
  id: string,
  body: string,
): Promise<void> {
  const what = whatText("write", id, target);
  if (body === "") throw CannotSend({ what, why: "they are empty" });
  if (!wellFormed(body)) throw CannotSend({ what, why: "they are not Unicode text" });
  // 201 and an empty body come from the registry of the old CLI.
  await ask(target, options, { method: "PUT", id, body, what, accepted: success });
}

export async function get(
  target: RegistryEndpoint,
  options: RegistryClientOptions,
  id: string,
): Promise<string | undefined> {
  const what = whatText("read", id, target);
  const accepted = (status: number) => status === 200 || status === 404;
  const response = await ask(target, options, { method: "GET", id, what, accepted });
  if (response.status === 404) return undefined;
  const reply = check(registrySettingsReply, parsed(response.text));
  if (!reply.ok) throw RegistryReplyInvalid({ what, why: "the answer is not that of a registry" });
  return reply.value.settings;
}

export async function remove(
  target: RegistryEndpoint,
  options: RegistryClientOptions,
  id: string,
): Promise<void> {
  const what = whatText("delete", id, target);
  const accepted = (status: number) => success(status) || status === 404;
  await ask(target, options, { method: "DELETE", id, what, accepted });
}

const whatText = (verb: string, id: string, target: RegistryEndpoint) =>
  `${verb} the settings of ${JSON.stringify(id)} at ${target.origin}`;

/** A lone surrogate has no UTF-8 form; it would silently become another character. */
const wellFormed = (text: string) => !/\p{Surrogate}/u.test(text);

async function ask(
  target: RegistryEndpoint,
  options: RegistryClientOptions,
  request: ClientRequest,
): Promise<Response> {
  const { what, id } = request;
  if (id === "" || !wellFormed(id)) throw CannotSend({ what, why: "the id is empty or not Unicode text" });
  const clock = options.clock ?? systemClock;
  const attempt = async (): Promise<Response> => {
    const response = await exchange(target, options, request).catch((cause: unknown) => {
      if (!(cause instanceof HttpTrouble)) throw cause;
      if (cause.kind === "too-large") throw RegistryReplyInvalid({ what, why: "the answer is too large" });
      throw RegistryUnreachable({ what }, { cause });
    });
    if (!request.accepted(response.status)) throw failure(what, response.status);
    return response;
  };
  return await retry(attempt, worthAnother, options.backoff ?? BACKOFF, {
    clock,
    random: options.random ?? systemRandom,
    signal: options.signal,
  });
}

const worthAnother = (error: unknown) => RegistryUnreachable.is(error) || RegistryFailed.is(error);

function failure(what: string, status: number): SlipwayError {
  if (status === 401 || status === 403) return RegistryDenied({ what, status });
  return status >= 500 || status === 429
    ? RegistryFailed({ what, status })
    : RegistryRefused({ what, status });
}

async function exchange(
  target: RegistryEndpoint,
  options: RegistryClientOptions,
  request: ClientRequest,
): Promise<Response> {
  const { method, id, body } = request;
  const { clock = systemClock, ca, signal } = options;
  const reply = await requestOnce(
    { origin: target.origin, clock, tls: { ca } },
    {
      method,
      path: target.basePath + settingsPath(id),
      doing: "the request",
      headers: {
        Accept: "application/json",
        ...(target.authorization === undefined ? {} : { Authorization: target.authorization }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      body,
      signal,
      withinMs: options.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS,
      largest: REPLY_LIMIT,
    },
  );
  return { status: reply.status, text: await reply.text() };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
