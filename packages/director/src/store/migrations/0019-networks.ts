/**
 * Networks that CPIs have made. Deployments share them by name; an unused one is orphaned, and deleted later. A network with
 * subnets, or with a deployment, cannot be removed.
 */
export const networks = `
create table networks (
  id          bigint generated always as identity primary key,
  name        text not null unique,
  type        text not null default 'manual',
  -- All subnets were made that it was to have at first.
  ready       boolean not null default false,
  created_at  timestamptz not null default now(),
  orphaned_at timestamptz
);
create table subnets (
  id               bigint generated always as identity primary key,
  network_id       bigint not null references networks (id),
  name             text not null,
  cid              text not null,
  cpi              text not null,
  range            text not null,
  gateway          text,
  reserved         jsonb not null,
  cloud_properties jsonb not null,
  unique (network_id, name),
  unique (cpi, cid)
);
create table deployment_networks (
  deployment_id bigint not null references deployments (id) on delete cascade,
  network_id    bigint not null references networks (id),
  primary key (deployment_id, network_id)
);
create index deployment_networks_network on deployment_networks (network_id);
`;
