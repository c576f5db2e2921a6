import { createHash } from "node:crypto";
import { type Backoff, delayBefore } from "@slipway/kernel/backoff";
import type { Clock } from "@slipway/kernel/clock";
import { HttpClient, HttpTrouble } from "@slipway/kernel/http/client";
import type { Random } from "@slipway/kernel/random";
import { type AwsKey, signedHeaders } from "@slipway/kernel/sigv4";
import { check } from "@slipway/protocol/schema/check";
import { open } from "@slipway/protocol/schema/json";
import type { Schema } from "@slipway/protocol/schema/marks";
import * as v from "valibot";
import { BadReply, NoAnswer, Throttled } from "../errors.ts";
import { type QueryParameters, queryBody } from "./query.ts";
import { classOf, refusalError } from "./refusals.ts";
import { parseXml, type XmlValue } from "./xml.ts";

/** Tries that all requests of one CPI call share, so that a call of many requests does not wait for each of them. */
export class RetryBudget {
  #left: number;

  constructor(retries: number) {
    this.#left = retries;
  }

  take(): boolean {
    this.#left -= 1;
    return this.#left >= 0;
  }
}

export interface RequestTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly budget: RetryBudget;
  /** Most repeats of one request. */
  readonly retries: number;
  readonly ca?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly warn: (line: string) => void;
}

export interface ServiceOptions extends RequestTools {
  readonly endpoint: URL;
  /** Name of the service in signatures, and in IAM permissions. */
  readonly service: "ec2" | "elasticloadbalancing" | "sts";
  readonly version: string;
  readonly region: string;
  /** Undefined for actions that need no signature. */
  readonly credentials: (() => Promise<AwsKey>) | undefined;
}

const BACKOFF: Backoff = { tries: 0, firstDelayMs: 300, longestDelayMs: 20_000 };
/** Repeats for capacity: it rarely comes back within seconds, and the Director may try elsewhere. */
const CAPACITY_RETRIES = 2;
const KEPT_MS = 5_000;
const WITHIN_MS = 60_000;
const LARGEST_REPLY = 64 << 20;

/** A service of AWS with a query API. Actions are repeated, so those that make something carry a client token. */
export class AwsService {
  readonly #options: ServiceOptions;
  readonly #http: HttpClient;

  constructor(options: ServiceOptions) {
    this.#options = options;
    const { endpoint, clock, ca } = options;
    this.#http = new HttpClient({
      origin: endpoint,
      clock,
      keepMs: KEPT_MS,
      ...(ca !== undefined && { tls: { ca } }),
    });
  }

  /** The same service for work that must be done although the call was aborted. */
  withoutSignal(): AwsService {
    return new AwsService({ ...this.#options, signal: undefined });
  }

  /**
   * Runs an action. `doubtful: "throw"` is for those that would be done twice: without an answer the caller must look
   * whether it was done.
   */
  async call<const S extends Schema>(
    schema: S,
    action: string,
    parameters: QueryParameters = {},
    doubtful: "repeat" | "throw" = "repeat",
  ): Promise<v.InferOutput<S>> {
    const { service, version } = this.#options;
    const doing = `${service}:${action}`;
    const text = await this.#send(action, queryBody(action, version, parameters), doubtful);
    const checked = check(schema, parseXml(text, doing), "the answer");
    if (!checked.ok) throw BadReply({ doing, problems: checked.problems });
    return checked.value;
  }

  async #send(action: string, body: string, doubtful: "repeat" | "throw"): Promise<string> {
    const { budget, retries, clock, random, signal, warn, service } = this.#options;
    const doing = `${service}:${action}`;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(doing, body);
      if ("text" in outcome) return outcome.text;
      const most = outcome.capacity ? Math.min(retries, CAPACITY_RETRIES) : retries;
      const again = outcome.again && (doubtful === "repeat" || !outcome.doubtful);
      if (!again || attempt > most || signal?.aborted || !budget.take()) throw outcome.error(attempt);
      const wait = delayBefore(attempt, BACKOFF, random);
      warn(`${outcome.why}; trying again in ${Math.round(wait)} ms`);
      await clock.sleep(wait, signal);
    }
  }

  async #attempt(doing: string, body: string): Promise<Outcome> {
    const { endpoint, credentials, region, service, clock, signal } = this.#options;
    const url = new URL(endpoint);
    const type = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
    const signable = {
      ...{ method: "POST", url, now: clock.now(), headers: type },
      payloadSha256: createHash("sha256").update(body).digest("hex"),
    };
    const headers =
      credentials === undefined
        ? type
        : signedHeaders(signable, { ...(await credentials()), region, service });
    let status: number;
    let text: string;
    try {
      const reply = await this.#http.request({
        ...{ method: "POST", path: url.pathname, doing, headers, body, signal },
        ...{ withinMs: WITHIN_MS, largest: LARGEST_REPLY },
      });
      status = reply.status;
      text = await reply.text();
    } catch (error) {
      if (!(error instanceof HttpTrouble)) throw error;
      const lost = NoAnswer({ doing, endpoint: url.host, why: error.why }, { cause: error.cause });
      const why = `${doing}: ${error.why}`;
      return { again: error.kind !== "unusable", doubtful: true, capacity: false, why, error: () => lost };
    }
    return status < 300 ? { text } : refused(doing, status, text);
  }
}

type Outcome =
  | { readonly text: string }
  | {
      readonly again: boolean;
      /** True if the action may have been executed. */
      readonly doubtful: boolean;
      readonly capacity: boolean;
      readonly why: string;
      readonly error: (tries: number) => Error;
    };

function refused(doing: string, status: number, text: string): Outcome {
  const { code, said } = errorIn(text, doing) ?? { code: `HTTP ${status}`, said: text.slice(0, 200).trim() };
  const refusal = { doing, code, said };
  const kind = status >= 500 || status === 429 ? "failing" : classOf(code);
  const why = `${doing}: AWS answers ${code}`;
  const throttled = classOf(code) === "throttled";
  return {
    again: kind !== "other",
    doubtful: kind === "failing" && !throttled && classOf(code) !== "capacity",
    capacity: classOf(code) === "capacity",
    why,
    error: (tries) => (throttled ? Throttled({ ...refusal, tries }) : refusalError(refusal, doing)),
  };
}

const oneError = open({ Code: v.string(), Message: v.optional(v.string()) });
const ec2Error = open({ Errors: v.array(oneError) });
const otherError = open({ Error: oneError });

function errorIn(text: string, doing: string): { readonly code: string; readonly said: string } | undefined {
  let document: XmlValue;
  try {
    document = parseXml(text, doing);
  } catch {
    // A proxy or a load balancer, whose page has no code.
    return undefined;
  }
  const ec2 = check(ec2Error, document);
  const other = check(otherError, document);
  const found = ec2.ok ? ec2.value.Errors[0] : other.ok ? other.value.Error : undefined;
  return found === undefined ? undefined : { code: found.Code, said: found.Message ?? "" };
}
