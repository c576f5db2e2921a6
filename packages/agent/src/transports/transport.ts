import type { AgentReply } from "@slipway/protocol/agent/envelope";

/** Answers one request; undefined for a body that is not a request at all. Never rejects. */
export type RequestHandler = (body: string, caller: string) => Promise<HandledRequest>;

export type HandledRequest =
  | {
      readonly kind: "reply";
      readonly reply: AgentReply;
      readonly replyTo: string | undefined;
      /** The request had arrived before and its reply is on its way: NATS stays silent, HTTPS says it again. */
      readonly repeated?: boolean;
    }
  /** NATS stays silent, HTTPS answers 500. */
  | { readonly kind: "unreadable" };

export type AgentTopic = "heartbeat" | "alert" | "shutdown";

/** A way for callers to reach the agent. */
export interface Transport {
  readonly description: string;
  /** Resolves when requests are taken. Keeps trying by itself after that. */
  start(handler: RequestHandler): Promise<void>;
  /** Dropped where nobody listens (HTTPS); rejects when it could not be sent. */
  publish(topic: AgentTopic, payload: unknown): Promise<void>;
  /**
   * Goes on under these credentials without being away: what is under way is answered, and nothing that is sent
   * meanwhile gets lost. Resolves when they are in use; throws, and changes nothing, when they are of no use.
   */
  rotate(credentials: TransportCredentials, clientCa?: string): Promise<void>;
  /** Finishes answers under way. */
  close(): Promise<void>;
}

export interface TransportCredentials {
  /** PEM; empty means the system's roots. */
  readonly ca: string;
  readonly certificate: string;
  readonly privateKey: string;
}
