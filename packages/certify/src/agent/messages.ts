import type { Clock } from "@slipway/kernel/clock";
import type { AgentReply } from "@slipway/protocol/agent/envelope";

/** How long a Director waits for one answer. */
export const ANSWER_MS = 45_000;

/** An agent to talk to, by whatever transport. */
export abstract class Messages {
  readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** One message; the reply as it came. */
  abstract send(method: string, args?: readonly unknown[], protocol?: number): Promise<AgentReply>;

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
