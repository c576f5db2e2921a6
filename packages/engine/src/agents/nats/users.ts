import {
  agentSubject,
  alertSubject,
  heartbeatSubject,
  replySubject,
  shutdownSubject,
} from "@slipway/protocol/agent/subjects";
import type { AgentId } from "@slipway/protocol/ids";
import { agentName, bootstrapName, DIRECTOR_NAME, HEALTH_MONITOR_NAME } from "./names.ts";

/** An agent that may take part. */
export interface AllowedAgent {
  readonly agentId: AgentId;
  /** True once the agent has its lasting certificate, and the one it was created with is no longer accepted. */
  readonly lasting: boolean;
}

/** One entry of `authorization.users` of a NATS server with `verify_and_map`. */
export interface NatsUser {
  readonly user: string;
  readonly permissions: { readonly publish: readonly string[]; readonly subscribe: readonly string[] };
}

const FROM_AGENTS = [heartbeatSubject("*"), alertSubject("*"), shutdownSubject("*")];

/** Returns the NATS users and their permissions, as upstream's nats-sync writes them. */
export function natsUsers(agents: readonly AllowedAgent[]): readonly NatsUser[] {
  const users = [
    // Heartbeats and alerts besides upstream's: this Director has its monitor within.
    user(DIRECTOR_NAME, ["agent.*", "hm.director.alert"], ["director.>", ...FROM_AGENTS]),
    user(HEALTH_MONITOR_NAME, [], [...FROM_AGENTS, "hm.director.alert"]),
    ...agents.flatMap(({ agentId, lasting }) =>
      [agentName(agentId), ...(lasting ? [] : [bootstrapName(agentId)])].map((name) =>
        user(
          name,
          [
            ...[heartbeatSubject, alertSubject, shutdownSubject].map((subject) => subject(agentId)),
            replySubject("*", agentId, "*"),
          ],
          [agentSubject(agentId)],
        ),
      ),
    ),
  ];
  // By the alternative name of the certificate, and by the subject: those of before have no alternative name.
  return users.flatMap((one) => [one, { ...one, user: `C=USA, O=Cloud Foundry, CN=${one.user}` }]);
}

const user = (name: string, publish: readonly string[], subscribe: readonly string[]): NatsUser => ({
  user: name,
  permissions: { publish, subscribe },
});
