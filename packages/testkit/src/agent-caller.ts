import { systemClock } from "@slipway/kernel/clock";
import { withDeadline } from "@slipway/kernel/deadline";
import type { AgentReply } from "@slipway/protocol/agent/envelope";
import { eventually } from "./eventually.ts";
import { type HttpsCall, post } from "./https-client.ts";

/** A Director's wait for one answer. */
const ANSWER_MS = 240_000;
/** Every question is a TLS handshake. */
const POLL_MS = 40;

/** The agent has answered, but with a refusal. */
export class AgentException extends Error {}

/** Talks to an agent over HTTPS as a Director does: sends, polls the task, and repeats what got lost. */
export class AgentCaller {
  readonly #port: number;
  readonly #to: HttpsCall;

  /** Certificates of tests are made for 127.0.0.1. */
  constructor(port: number, host?: string) {
    this.#port = port;
    this.#to = host === undefined ? {} : { host, checkServerIdentity: () => undefined };
  }

  /** One message; the reply as it came. Throws when none comes. */
  async ask(method: string, ...args: readonly unknown[]): Promise<AgentReply> {
    const body = JSON.stringify({ protocol: 3, method, arguments: args, reply_to: "e2e" });
    const answer = await withDeadline(method, ANSWER_MS, systemClock, undefined, () =>
      post(this.#port, body, this.#to),
    );
    if (answer.status !== 200) throw new Error(`${method}: HTTP ${answer.status}`);
    return JSON.parse(answer.text) as AgentReply;
  }

  /** The value of a message, its task polled to the end. Throws the exception's message. */
  async value(method: string, ...args: readonly unknown[]): Promise<unknown> {
    return await this.finished(await this.ask(method, ...args));
  }

  /** The id of the task that a message became. */
  async task(method: string, ...args: readonly unknown[]): Promise<string> {
    const id = taskIn(await this.ask(method, ...args));
    if (id === undefined) throw new Error(`${method} is no task`);
    return id;
  }

  /** The value a reply leads to. An agent that is gone meanwhile is an error at once. */
  async finished(reply: AgentReply): Promise<unknown> {
    const giveUp = systemClock.monotonic() + ANSWER_MS;
    let now = reply;
    for (let task = taskIn(now); task !== undefined; task = taskIn(now)) {
      if (systemClock.monotonic() > giveUp) throw new Error(`task ${task} takes too long`);
      await systemClock.sleep(POLL_MS);
      now = await this.ask("get_task", task);
    }
    if ("exception" in now) throw new AgentException(now.exception.message);
    return now.value;
  }

  /** Sends ping and returns the value, or the exception's message. */
  async ping(): Promise<unknown> {
    const reply = await this.ask("ping");
    return "value" in reply ? reply.value : reply.exception.message;
  }

  async pong(): Promise<void> {
    await eventually("pong", async () => {
      const answer = await this.ping();
      if (answer === "pong") return true;
      throw new Error(String(answer));
    });
  }
}

export function taskIn(reply: AgentReply): string | undefined {
  if (!("value" in reply) || typeof reply.value !== "object" || reply.value === null) return undefined;
  const { agent_task_id: id, state } = reply.value as { agent_task_id?: unknown; state?: unknown };
  return state === "running" && typeof id === "string" ? id : undefined;
}
