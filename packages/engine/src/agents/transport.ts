import type { AgentMessageName } from "@slipway/protocol/agent/messages";
import type { BlobContent } from "./agent.ts";
import type { Reply } from "./reply.ts";
import type { TransportFailure } from "./transport-failure.ts";

/** A message to an agent, whatever carries it. */
export interface AgentRequest {
  readonly method: AgentMessageName;
  readonly arguments: readonly unknown[];
  /** Asking it once more does no harm. */
  readonly harmless?: boolean;
}

/** Result of a message: the agent's reply, or why none came. */
export type Delivery =
  | Reply
  | {
      readonly kind: "failed";
      readonly failure: TransportFailure;
      readonly cause?: unknown;
      /** The time is up. */
      readonly late: boolean;
    };

/**
 * Carries messages to one agent and its replies back, once each: what is worth another try is the protocol's to say.
 * Over HTTPS or NATS.
 */
export interface AgentTransport {
  /** Name of the agent in messages: `agent 4b0f at 10.0.0.2:6868`. */
  readonly name: string;
  /** Sends a message. Rejects with `WrongAgent` if another agent answers, and with the signal's reason. */
  send(request: AgentRequest, withinMs: number, signal: AbortSignal | undefined): Promise<Delivery>;
  /** Puts a blob beside the agent. Rejects as `send` does, and with `AgentRefused` when it is not taken. */
  putBlob(id: string, content: BlobContent, withinMs: number, signal: AbortSignal | undefined): Promise<void>;
  /** Hands over one that the agent made. Rejects as `putBlob` does, and with what `take` throws. */
  getBlob<T>(
    id: string,
    take: (content: AsyncIterable<Uint8Array>) => Promise<T>,
    withinMs: number,
    signal: AbortSignal | undefined,
  ): Promise<T>;
  /** Removes a blob that is no longer needed, if the agent does not keep blobs itself. */
  removeBlob?(id: string): Promise<void>;
  /** Ends its connections. */
  close(): void;
}
