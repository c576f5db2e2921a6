/**
 * Numbers that stand for names in DNS: once given, they stay. And the records as agents get them: a row for each time that they
 * changed, whose number agents go by.
 */
export const dns = `
create table dns_azs (
  id   bigint generated always as identity primary key,
  name text not null unique
);

create table dns_networks (
  id   bigint generated always as identity primary key,
  name text not null unique
);

create table dns_groups (
  id            bigint generated always as identity primary key,
  deployment_id bigint not null references deployments on delete cascade,
  type          text not null check (type in ('instance-group', 'link')),
  name          text not null,
  unique (deployment_id, type, name)
);

create table dns_records (
  version    bigint generated always as identity primary key,
  -- Without the version.
  content    text not null,
  created_at timestamptz not null default now()
);

-- Which records its agent has.
alter table vms add column dns_version bigint not null default 0;
`;
