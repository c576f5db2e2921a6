import type { Clock } from "@slipway/kernel/clock";
import { toError } from "@slipway/kernel/errors";
import type { AgentReply } from "@slipway/protocol/agent/envelope";
import type { AgentConversation } from "./record.ts";

/** How long a Director waits for one answer. */
export const ANSWER_MS = 45_000;

/** An agent to talk to, by whatever transport. */
export abstract class Messages {
  readonly clock: Clock;
  /** Record of what is said, for reports. */
  conversation: AgentConversation | undefined;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Sends one message and resolves to the reply as it came. */
  async send(method: string, args: readonly unknown[] = [], protocol = 3): Promise<AgentReply> {
    this.conversation?.request(method, args, protocol);
    try {
      const reply = await this.deliver(method, args, protocol);
      this.conversation?.reply(method, reply);
      return reply;
    } catch (error) {
      this.conversation?.note(toError(error).message);
      throw error;
    }
  }

  protected abstract deliver(method: string, args: readonly unknown[], protocol: number): Promise<AgentReply>;

  /** The value of a message, its task polled to the end. Throws the exception's message. */
  async value(method: string, args: readonly unknown[] = [], protocol = 3): Promise<unknown> {
    let reply = await this.send(method, args, protocol);
    for (;;) {
      if ("exception" in reply) throw new Error(reply.exception.message);
      const task = runningId(reply.value);
      if (task === undefined) return reply.value;
      await this.clock.sleep(20);
      reply = await this.send("get_task", [task]);
    }
  }

  /** The message of the exception; throws if there was none. */
  async failure(method: string, args: readonly unknown[] = []): Promise<string> {
    try {
      await this.value(method, args);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    throw new Error(`${method} should have failed`);
  }
}

export function runningId(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { agent_task_id: id, state } = value as { agent_task_id?: unknown; state?: unknown };
  return state === "running" && typeof id === "string" ? id : undefined;
}
