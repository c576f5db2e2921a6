/**
 * Teams that own a deployment, by name: those of the user who deployed it first. Tasks keep the teams of their deployment at the
 * time of the request.
 */
export const teams = `
alter table deployments add column teams text[] not null default '{}';
alter table tasks add column teams text[] not null default '{}';
`;
