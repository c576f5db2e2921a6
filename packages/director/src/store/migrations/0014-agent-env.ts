/**
 * A VM remembers, by a mark, the settings of all agents when it was made: one that was never ready is recreated when they change.
 */
export const agentEnv = `
alter table vms add column agent_env text;
`;
