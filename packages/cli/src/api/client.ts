import { messageTrail } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { info as infoEntry } from "@slipway/protocol/director/info";
import { type OutputType, task as taskEntry } from "@slipway/protocol/director/task";
import { check, matches } from "@slipway/protocol/schema/check";
import type * as v from "valibot";
import type { ApiRequest, DirectorApi, FollowOptions, RawReply, TaskOutcome } from "./director-api.ts";
import { OddAnswer, UaaWanted, Unauthorized } from "./errors.ts";
import { followTask, type Teller } from "./follow.ts";
import { refusedBy } from "./refusal.ts";
import { requestName, requestPath } from "./request-path.ts";
import {
  DirectorWire,
  isKnown,
  type RetryWindow,
  type WireOptions,
  type WireReply,
  type WireRequest,
} from "./wire.ts";

export interface ApiClientOptions extends WireOptions {
  /** Receives the progress of tasks. */
  readonly teller: Teller;
}

/** Time for which following a task tolerates an unreachable Director: one that restarts is back by then. */
const PATIENCE_MS = 60_000;

const ACCEPTED = [200, 201, 204, 206];

/** A Director's API, by name and password or by tokens. */
export class Client implements DirectorApi {
  readonly #options: ApiClientOptions;
  readonly #wire: DirectorWire;

  constructor(options: ApiClientOptions) {
    this.#options = options;
    this.#wire = new DirectorWire(options);
  }

  get url(): string {
    return this.#options.url;
  }

  get user(): string | undefined {
    return this.#options.user;
  }

  json<const S extends v.GenericSchema>(request: ApiRequest, schema: S): Promise<v.InferOutput<S>> {
    return this.#json(request, schema);
  }

  async #json<const S extends v.GenericSchema>(
    request: ApiRequest,
    schema: S,
    patience?: RetryWindow,
  ): Promise<v.InferOutput<S>> {
    const what = requestName(request);
    const text = await this.#text(request, patience);
    let document: unknown;
    try {
      document = parseStrictJson(text, "it");
    } catch (cause) {
      throw OddAnswer({ what, why: messageTrail(cause) });
    }
    const checked = check(schema, document, "answer");
    if (!checked.ok) throw OddAnswer({ what, why: checked.problems.join("; ") });
    return checked.value;
  }

  text(request: ApiRequest): Promise<string> {
    return this.#text(request);
  }

  async #text(request: ApiRequest, patience?: RetryWindow): Promise<string> {
    const reply = await this.#send(request, {}, patience);
    if (!ACCEPTED.includes(reply.status)) throw await this.#refusal(request, reply);
    return reply.body.toString("utf8");
  }

  async raw(request: ApiRequest & { readonly headers: Record<string, string> }): Promise<RawReply> {
    const reply = await this.#send(request, request.headers);
    if (![...ACCEPTED, 302, 303].includes(reply.status)) throw await this.#refusal(request, reply);
    return { status: reply.status, headers: reply.headers, text: reply.body.toString("utf8") };
  }

  async download<T>(
    request: ApiRequest,
    take: (content: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<T> {
    const got = await this.#wire.download({ ...request, path: requestPath(request), headers: {} }, take);
    if ("refused" in got) throw await this.#refusal(request, got.refused);
    return got.taken;
  }

  async begin(request: ApiRequest): Promise<number> {
    const reply = await this.#send(request);
    if (reply.status !== 302 && reply.status !== 303) {
      if (!ACCEPTED.includes(reply.status)) throw await this.#refusal(request, reply);
      throw OddAnswer({ what: requestName(request), why: `it started no task (status ${reply.status})` });
    }
    const id = /\/tasks\/(\d+)$/.exec(reply.location ?? "")?.[1];
    if (id === undefined) throw OddAnswer({ what: requestName(request), why: "it names no task" });
    return Number(id);
  }

  follow(task: number, options: FollowOptions = {}): Promise<TaskOutcome> {
    const { clock, stop, teller } = this.#options;
    const patience = this.#patience(task);
    return followTask(task, options, {
      state: () => this.#json({ method: "GET", path: `/tasks/${task}` }, taskEntry, patience),
      since: (type, from) => this.#since(task, type, from, patience),
      teller,
      clock,
      stop,
    });
  }

  /** A task outlives a Director that is started again; so does who follows it. */
  #patience(task: number): RetryWindow {
    const { url, teller } = this.#options;
    let told = false;
    const waits = () => {
      if (!told)
        teller.note(
          `The Director at ${url} does not answer. Waiting up to ${PATIENCE_MS / 1000} s for it to come back; task ${task} is not lost.`,
        );
      told = true;
    };
    return { ms: PATIENCE_MS, waits };
  }

  output(task: number, type: OutputType): Promise<string> {
    return this.text({ method: "GET", path: `/tasks/${task}/output`, query: { type } });
  }

  /** Returns a task's output from a byte on; empty if there is nothing new. */
  async #since(task: number, type: string, from: number, patience: RetryWindow): Promise<Buffer> {
    const request: ApiRequest = { method: "GET", path: `/tasks/${task}/output`, query: { type } };
    const reply = await this.#send(request, { range: `bytes=${from}-` }, patience);
    if (reply.status === 416 || reply.status === 204) return Buffer.alloc(0);
    if (reply.status === 206) return reply.body;
    // A Director that does not know ranges sends everything each time.
    if (reply.status === 200) return reply.body.subarray(from);
    throw await this.#refusal(request, reply);
  }

  close(): void {
    this.#wire.close();
  }

  #send(
    request: ApiRequest,
    headers: Record<string, string> = {},
    patience?: RetryWindow,
  ): Promise<WireReply> {
    const { method, body, contentType, last } = request;
    const sent: WireRequest = {
      method,
      last,
      path: requestPath(request),
      // Writes without a body still say that it is empty, as upstream does.
      body: body ?? (method === "GET" || method === "DELETE" ? undefined : ""),
      headers: { ...headers, ...(contentType === undefined ? {} : { "content-type": contentType }) },
    };
    return this.#wire.send(sent, patience);
  }

  async #refusal(request: ApiRequest, reply: WireReply): Promise<Error> {
    const body = reply.body.toString("utf8");
    const { url, user } = this.#options;
    // 600000: known, but not allowed to; that is a refusal like others.
    if (reply.status !== 401 || isKnown(reply)) return refusedBy(requestName(request), reply.status, body);
    const info = await this.#wire.send({ method: "GET", path: "/info", headers: {} });
    const type = authenticationType(info);
    return type === "uaa" ? UaaWanted({ url, user }) : Unauthorized({ url, user });
  }
}

function authenticationType(info: WireReply): string | undefined {
  try {
    const told: unknown = JSON.parse(info.body.toString("utf8"));
    return matches(infoEntry, told) ? told.user_authentication?.type : undefined;
  } catch {
    return undefined;
  }
}
