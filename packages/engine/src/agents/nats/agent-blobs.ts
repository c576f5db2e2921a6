import type { AgentId } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { BlobContent } from "../agent.ts";

/** A place where an agent gets blobs from and puts those it makes: each agent sees its own alone. */
export interface AgentBlobs {
  /** Returns the entry of `blobstores` for the agent's settings. */
  blobstoreFor(agentId: AgentId): JsonObject;
  put(agentId: AgentId, id: string, content: BlobContent, signal: AbortSignal | undefined): Promise<void>;
  /** Rejects with `AgentRefused` when the agent has put none there, and with what `take` throws. */
  get<T>(
    agentId: AgentId,
    id: string,
    take: (content: AsyncIterable<Uint8Array>) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T>;
  /** Succeeds if the blob does not exist. */
  remove(agentId: AgentId, id: string): Promise<void>;
}
