/**
 * Links that the last deploy of each deployment offers and uses. Providers are there from the beginning of the deploy that brings
 * them, without content: the instances behind them have names from then on. What the deploy no longer has goes with its success.
 */
export const links = `
create table link_providers (
  id                bigint generated always as identity primary key,
  deployment_id     bigint not null references deployments on delete cascade,
  group_name        text not null,
  job               text not null,
  kind              text not null check (kind in ('job', 'manual')),
  original_name     text not null,
  name              text not null,
  type              text not null,
  shared            boolean not null,
  consumable        boolean not null,
  custom            boolean not null,
  properties_sealed text not null,
  aliases           jsonb not null,
  -- What consumers are told. Null: nobody can consume it, or not yet.
  content_sealed    text,
  unique (deployment_id, group_name, job, kind, original_name, name, type)
);

create table link_consumers (
  id            bigint generated always as identity primary key,
  deployment_id bigint not null references deployments on delete cascade,
  -- Null: it is no job, but something outside.
  group_name    text,
  job           text not null,
  original_name text not null,
  name          text not null,
  type          text not null,
  optional      boolean not null,
  unique (deployment_id, group_name, job, original_name, type)
);

create table links (
  id             bigint generated always as identity primary key,
  consumer_id    bigint not null references link_consumers on delete cascade,
  -- Null: it is gone.
  provider_id    bigint references link_providers on delete set null,
  name           text not null,
  content_sealed text not null,
  created_at     timestamptz not null default now()
);
create index links_consumer on links (consumer_id);
create index links_provider on links (provider_id);
`;
