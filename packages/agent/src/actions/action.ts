import type { MessageArgs, MessageResult } from "@slipway/protocol/agent/message";
import type { AgentMessageName, AgentMessages } from "@slipway/protocol/agent/messages";
import type { AgentServices } from "../services.ts";

export interface ActionCall {
  readonly services: AgentServices;
  readonly protocol: number;
  /** Aborted when the task is cancelled or the agent ends. */
  readonly signal: AbortSignal;
}

export type Action<N extends AgentMessageName> = (
  args: MessageArgs<AgentMessages[N]>,
  call: ActionCall,
) => Promise<MessageResult<AgentMessages[N]>>;

/** The actions of this agent by message; `get_task` and `cancel_task` are the dispatcher's own. */
export type ActionTable = { readonly [N in AgentMessageName]?: Action<N> };
