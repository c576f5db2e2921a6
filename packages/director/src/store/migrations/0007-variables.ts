/**
 * Variables of the Director's own config server: every version of every variable. A deploy pins the versions it uses in a set;
 * there is one set for each deploy, whose task may run several times.
 */
export const variables = `
create table variables (
  id             text primary key,
  name           text not null,
  version        integer not null,
  type           text not null,
  value_sealed   text not null,
  -- What it was generated with.
  options_sealed text not null,
  -- Who asked for it: asked again, it is the same one.
  request_id     text not null,
  created_at     timestamptz not null default now(),
  unique (name, version),
  unique (name, request_id)
);

create table variable_sets (
  id            bigint generated always as identity primary key,
  deployment_id bigint not null references deployments on delete cascade,
  task_id       bigint not null,
  deployed      boolean not null default false,
  created_at    timestamptz not null default now(),
  unique (deployment_id, task_id)
);

-- Ids are the config server's: it may be another program.
create table variable_set_entries (
  set_id      bigint not null references variable_sets on delete cascade,
  name        text not null,
  type        text,
  variable_id text not null,
  primary key (set_id, name)
);

alter table instances add column variable_set_id bigint references variable_sets on delete set null;
create index instances_variable_set on instances (variable_set_id);
`;
