/** NATS subjects between Director, Health Monitor and agents. Ids are single tokens. */
export const agentSubject = (agentId: string) => `agent.${agentId}`;
export const heartbeatSubject = (agentId: string) => `hm.agent.heartbeat.${agentId}`;
export const alertSubject = (agentId: string) => `hm.agent.alert.${agentId}`;
export const shutdownSubject = (agentId: string) => `hm.agent.shutdown.${agentId}`;
/** Subject of the Director's alerts to health monitors. */
export const DIRECTOR_ALERT_SUBJECT = "hm.director.alert";
export const replySubject = (processUuid: string, agentId: string, requestId: string) =>
  `director.${processUuid}.${agentId}.${requestId}`;

/** An id with a dot or a wildcard would be another subject. */
export const isSubjectToken = (id: string): boolean => /^[^\s.*>]+$/.test(id);
