import type { Clock } from "@slipway/kernel/clock";
import { basicAuth, requestOnce } from "@slipway/kernel/http/client";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { task } from "@slipway/protocol/director/task";
import { taskEvent } from "@slipway/protocol/director/task-event";
import { check, matches } from "@slipway/protocol/schema/check";
import type { Schema } from "@slipway/protocol/schema/marks";
import type * as v from "valibot";
import { DirectorRefused } from "../errors.ts";

export interface DirectorClientOptions {
  readonly url: string;
  readonly ca: string;
  readonly user: string;
  readonly password: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface DirectorRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: string | Uint8Array;
  /** Content type of the body; the Director chooses by it. */
  readonly type?: string;
}

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly text: string;
}

const PAUSE_MS = 25;

/** The Director's API, as the bosh CLI uses it. */
export class DirectorClient {
  readonly #options: DirectorClientOptions;

  constructor(options: DirectorClientOptions) {
    this.#options = options;
  }

  /** Returns the immediate answer to a GET or PUT. */
  async ask(doing: string, sent: DirectorRequest): Promise<string> {
    const answer = await this.#send(sent);
    if (answer.status >= 300) throw DirectorRefused({ doing, why: whyOf(answer) });
    return answer.text;
  }

  /** A document that a GET answers, checked. */
  async document<const S extends Schema>(doing: string, path: string, schema: S): Promise<v.InferOutput<S>> {
    const text = await this.ask(doing, { method: "GET", path });
    const checked = check(schema, parseStrictJson(text, path), "answer");
    if (checked.ok) return checked.value;
    throw DirectorRefused({ doing, why: `${path} answers something else: ${checked.problems.join("; ")}` });
  }

  /** Starts a task and waits for its end; its result. */
  async task(doing: string, sent: DirectorRequest): Promise<string> {
    const { clock, signal } = this.#options;
    const started = await this.#send(sent);
    const id = /\/tasks\/(\d+)$/.exec(started.location ?? "")?.[1];
    if (id === undefined) throw DirectorRefused({ doing, why: whyOf(started) });
    for (;;) {
      const { state, result } = await this.#taskState(doing, id);
      if (state === "done") return result;
      if (!["queued", "processing", "cancelling"].includes(state))
        throw DirectorRefused({ doing, why: `task ${id}: ${state}: ${(await this.#error(id)) ?? result}` });
      await clock.sleep(PAUSE_MS, signal);
    }
  }

  async #taskState(doing: string, id: string): Promise<{ state: string; result: string }> {
    const { state, result } = await this.document(doing, `/tasks/${id}`, task);
    return { state, result: result ?? "" };
  }

  /** The whole of it: a task's result is cut off. */
  async #error(id: string): Promise<string | undefined> {
    const { text } = await this.#send({ method: "GET", path: `/tasks/${id}/output?type=event` });
    const said = text.split("\n").findLast((line) => line.includes('"error"'));
    if (said === undefined) return undefined;
    const event = parseStrictJson(said, "an event");
    return matches(taskEvent, event) ? (event.error?.message ?? undefined) : undefined;
  }

  async #send({ method, path, body, type }: DirectorRequest): Promise<Answer> {
    const { url, ca, user, password, clock, signal } = this.#options;
    const reply = await requestOnce(
      { origin: url, clock, tls: { ca } },
      {
        method,
        path,
        headers: {
          authorization: basicAuth(user, password),
          ...(type !== undefined && { "content-type": type }),
        },
        body,
        signal,
      },
    );
    return { status: reply.status, location: reply.header("location"), text: await reply.text() };
  }
}

const whyOf = ({ status, text }: Answer): string => `HTTP ${status}: ${text.trim().slice(0, 500)}`;
