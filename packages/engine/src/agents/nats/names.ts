import type { AgentId } from "@slipway/protocol/ids";
import { isDnsName } from "../../pki/authority.ts";

/** Common names as upstream has them; with `C=USA, O=Cloud Foundry` before them they are users of the NATS server. */
export const DIRECTOR_NAME = "default.director.bosh-internal";
export const HEALTH_MONITOR_NAME = "default.hm.bosh-internal";
export const SERVER_NAME = "default.nats.bosh-internal";
export const agentName = (agentId: AgentId): string => `${agentId}.agent.bosh-internal`;
/** Returns the name in the certificate that a new VM boots with. The certificate is replaced at the first contact. */
export const bootstrapName = (agentId: AgentId): string => `${agentId}.bootstrap.agent.bosh-internal`;

/**
 * The certificate of a client. It has the name twice: a server looks up an alternative name, but compares a subject with that of
 * every user, for every client, whenever the users change.
 */
export const natsClient = (name: string) =>
  ({
    subject: "bosh",
    commonName: name,
    sans: { dns: isDnsName(name) ? [name] : [], ips: [] },
    usage: "client",
  }) as const;
