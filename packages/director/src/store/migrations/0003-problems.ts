/** Problems that `cloud-check` has found. An open one is there once, however often it is found again. */
export const problems = `
create table problems (
  id            bigint generated always as identity primary key,
  deployment_id bigint not null references deployments on delete cascade,
  type          text not null,
  -- The instance's id, or the disk's cid.
  resource      text not null,
  state         text not null default 'open',
  data          jsonb not null,
  times_seen    integer not null default 1,
  created_at    timestamptz not null default now(),
  last_seen_at  timestamptz not null default now()
);
create unique index problems_open on problems (deployment_id, type, resource) where state = 'open';
`;
