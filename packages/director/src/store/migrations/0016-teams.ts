/** Whose a deployment is, by the names of teams: who deployed it first. Tasks keep whose theirs was when they were asked for. */
export const teams = `
alter table deployments add column teams text[] not null default '{}';
alter table tasks add column teams text[] not null default '{}';
`;
