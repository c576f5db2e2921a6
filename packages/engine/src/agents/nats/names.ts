import type { AgentId } from "@slipway/protocol/ids";

/** Common names as upstream has them; with `C=USA, O=Cloud Foundry` before them they are users of the NATS server. */
export const DIRECTOR_NAME = "default.director.bosh-internal";
export const HEALTH_MONITOR_NAME = "default.hm.bosh-internal";
export const SERVER_NAME = "default.nats.bosh-internal";
export const agentName = (agentId: AgentId): string => `${agentId}.agent.bosh-internal`;
/** Of the certificate a new VM comes up with. It is replaced at the first contact. */
export const bootstrapName = (agentId: AgentId): string => `${agentId}.bootstrap.agent.bosh-internal`;
