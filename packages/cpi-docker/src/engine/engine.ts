import type { HttpReply } from "@slipway/kernel/http/client";
import { check } from "@slipway/protocol/schema/check";
import { open } from "@slipway/protocol/schema/json";
import type { Schema } from "@slipway/protocol/schema/marks";
import * as v from "valibot";
import { BadReply, EngineRefused, NoEngine, WrongApiVersion } from "../errors.ts";
import type { EngineAddress } from "./address.ts";
import { type EngineRequest, send, textOf } from "./http.ts";
import { WANTS_TLS } from "./unreachable-reason.ts";

/** The oldest and the newest version of the Docker API whose answers this client knows. */
const OLDEST = "1.40";
const NEWEST = "1.48";

export interface EngineCall extends EngineRequest {
  /** Purpose of the call, as a message says it: "creating the network 'x'". */
  readonly doing: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
}

/** An answer with a status that the caller wants to judge. */
export interface EngineRefusal {
  readonly status: number;
  readonly said: string;
}

/** A Docker Engine, by a version of its API that both know. */
export class Engine {
  readonly address: EngineAddress;
  readonly version: string;
  readonly #signal: AbortSignal | undefined;

  private constructor(address: EngineAddress, version: string, signal: AbortSignal | undefined) {
    this.address = address;
    this.version = version;
    this.#signal = signal;
  }

  static async open(address: EngineAddress, signal?: AbortSignal): Promise<Engine> {
    const newest = await pinged(address, signal);
    const key = `${address.shown} ${newest}`;
    const known = newest === undefined ? undefined : (agreements.get(key) ?? withoutAsking(newest));
    if (known !== undefined) return new Engine(address, known, signal);
    const doing = "asking for its version";
    const reply = await send(address, { method: "GET", path: "/version", signal });
    const body = await textOf(reply);
    if (WANTS_TLS.test(body))
      throw NoEngine({ host: address.shown, why: "it speaks TLS there, and docker.tls is not set" });
    if (reply.status !== 200) throw EngineRefused({ doing, status: reply.status, said: brief(body) });
    const found = read(versions, body, doing);
    const chosen = agreed(address, found.ApiVersion, found.MinAPIVersion ?? OLDEST);
    if (newest === found.ApiVersion) agreements.set(key, chosen);
    return new Engine(address, chosen, signal);
  }

  /** Signal of the call. */
  get signal(): AbortSignal | undefined {
    return this.#signal;
  }

  /** Returns the same engine for work that must be done although the call was aborted. */
  withoutSignal(): Engine {
    return new Engine(this.address, this.version, undefined);
  }

  /** Sends it and checks the answer; any other status than success is an error. */
  async json<const S extends Schema>(schema: S, call: EngineCall): Promise<v.InferOutput<S>> {
    return read(schema, await textOf(await this.stream(call)), call.doing);
  }

  /** Sends it like `json`, and ignores the answer. */
  async run(call: EngineCall): Promise<void> {
    await textOf(await this.stream(call));
  }

  /** Undefined when the engine knows no such thing. */
  async find<const S extends Schema>(schema: S, call: EngineCall): Promise<v.InferOutput<S> | undefined> {
    const reply = await this.attempt(call);
    if ("said" in reply && reply.status === 404) return undefined;
    return read(schema, await textOf(must(reply, call)), call.doing);
  }

  /** The answer as it comes in. */
  async stream(call: EngineCall): Promise<HttpReply> {
    return must(await this.attempt(call), call);
  }

  /** A refusal is handed back, not thrown. */
  async attempt(call: EngineCall): Promise<HttpReply | EngineRefusal> {
    const path = `/v${this.version}${call.path}${queryOf(call.query)}`;
    const reply = await send(this.address, { signal: this.#signal, ...call, path });
    const { status } = reply;
    if (status < 400) return reply;
    const body = await textOf(reply);
    return { status, said: messageIn(body) ?? brief(body) };
  }
}

export const refused = (reply: HttpReply | EngineRefusal): reply is EngineRefusal => "said" in reply;

export function must(reply: HttpReply | EngineRefusal, { doing }: Pick<EngineCall, "doing">): HttpReply {
  if (refused(reply)) throw EngineRefused({ doing, ...reply });
  return reply;
}

/** Agreed versions by the engine's answer to a ping. An engine that was replaced answers differently, or is as good. */
const agreements = new Map<string, string>();

/** The newest version that an engine knows. To say all about itself it runs programs, which takes it long. */
async function pinged(address: EngineAddress, signal: AbortSignal | undefined): Promise<string | undefined> {
  const reply = await send(address, { method: "GET", path: "/_ping", signal });
  await textOf(reply);
  return reply.status === 200 ? reply.header("api-version") : undefined;
}

/** Its newest is one that this client knows: which its oldest is does not matter. */
function withoutAsking(newest: string): string | undefined {
  const isKnown = v.is(version, newest) && compare(newest, NEWEST) <= 0 && compare(newest, OLDEST) >= 0;
  return isKnown ? newest : undefined;
}

const version = v.pipe(v.string(), v.regex(/^\d+\.\d+/, "it is no version"));
const versions = open({ ApiVersion: version, MinAPIVersion: v.optional(version) });

function agreed(address: EngineAddress, newest: string, oldest: string): string {
  const chosen = compare(newest, NEWEST) < 0 ? newest : NEWEST;
  if (compare(chosen, OLDEST) < 0 || compare(chosen, oldest) < 0)
    throw WrongApiVersion({
      host: address.shown,
      speaks: newest === oldest ? newest : `${oldest} to ${newest}`,
      wanted: `${OLDEST} to ${NEWEST}`,
    });
  return chosen;
}

function compare(one: string, other: string): number {
  const [a = 0, b = 0] = one.split(".").map(Number);
  const [c = 0, d = 0] = other.split(".").map(Number);
  return a - c || b - d;
}

function queryOf(query: EngineCall["query"]): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {}))
    for (const one of typeof value === "string" ? [value] : value) search.append(key, one);
  return search.size === 0 ? "" : `?${search}`;
}

function read<const S extends Schema>(schema: S, body: string, doing: string): v.InferOutput<S> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    throw BadReply({ doing, problems: ["it is no JSON"] }, { cause });
  }
  const checked = check(schema, value, "answer");
  if (!checked.ok) throw BadReply({ doing, problems: checked.problems });
  return checked.value;
}

const errorBody = open({ message: v.string() });

function messageIn(body: string): string | undefined {
  try {
    const found = check(errorBody, JSON.parse(body));
    return found.ok ? brief(found.value.message) : undefined;
  } catch {
    return undefined;
  }
}

const brief = (text: string): string => text.trim().slice(0, 500) || "no message";
