/** The tables of the Director. Ids count up and are never used again. Times are timestamptz. */
export const core = `
create table director_attributes (
  name  text primary key,
  value text not null
);

create table tasks (
  id              bigint generated always as identity primary key,
  type            text not null,
  description     text not null,
  state           text not null default 'queued',
  username        text not null,
  deployment_name text,
  context_id      text not null default '',
  params          jsonb not null,
  result          text,
  created_at      timestamptz not null default now(),
  started_at      timestamptz,
  finished_at     timestamptz,
  attempts        integer not null default 0,
  lease_owner     text,
  lease_until     timestamptz
);
create index tasks_state on tasks (state);
create index tasks_deployment on tasks (deployment_name);

-- Append-only output of tasks, in pieces: offset counts bytes.
create table task_output (
  task_id bigint not null references tasks on delete cascade,
  type    text not null,
  start   bigint not null,
  data    bytea not null,
  primary key (task_id, type, start)
);

create table locks (
  name        text primary key,
  task_id     bigint not null,
  owner       text not null,
  acquired_at timestamptz not null default now(),
  expires_at  timestamptz not null
);

create table events (
  id          bigint generated always as identity primary key,
  parent_id   bigint,
  at          timestamptz not null default now(),
  username    text not null,
  action      text not null,
  object_type text not null,
  object_name text,
  error       text,
  task_id     bigint,
  deployment  text,
  instance    text,
  context     jsonb not null default '{}'
);
create index events_deployment on events (deployment);
create index events_task on events (task_id);

create table configs (
  id         bigint generated always as identity primary key,
  type       text not null,
  name       text not null,
  content    text not null,
  team       text,
  created_at timestamptz not null default now(),
  deleted    boolean not null default false
);
create index configs_type_name on configs (type, name, id);

create table deployments (
  id            bigint generated always as identity primary key,
  name          text not null unique,
  -- Lower case, underscores as dashes: no two may share it.
  canonical     text not null unique,
  -- As posted, of the last deploy that succeeded.
  manifest_text text,
  created_at    timestamptz not null default now()
);

create table deployment_configs (
  deployment_id bigint not null references deployments on delete cascade,
  config_id     bigint not null references configs,
  primary key (deployment_id, config_id)
);

create table stemcells (
  id               bigint generated always as identity primary key,
  name             text not null,
  version          text not null,
  operating_system text not null,
  cid              text not null check (cid <> ''),
  digest           text not null,
  cpi              text not null,
  api_version      integer not null,
  created_at       timestamptz not null default now(),
  unique (name, version, cpi)
);

create table stemcell_uploads (
  name    text not null,
  version text not null,
  cpi     text not null,
  primary key (name, version, cpi)
);

create table deployment_stemcells (
  deployment_id bigint not null references deployments on delete cascade,
  stemcell_id   bigint not null references stemcells,
  primary key (deployment_id, stemcell_id)
);

create table instances (
  id               bigint generated always as identity primary key,
  deployment_id    bigint not null references deployments,
  uuid             text not null unique,
  group_name       text not null,
  index            integer not null,
  az               text,
  state            text not null,
  bootstrap        boolean not null default false,
  ignore           boolean not null default false,
  update_completed boolean not null default false,
  spec             jsonb,
  unique (deployment_id, group_name, index)
);

create table vms (
  id                bigint generated always as identity primary key,
  instance_id       bigint not null references instances,
  cid               text not null unique check (cid <> ''),
  agent_id          text not null unique check (agent_id <> ''),
  active            boolean not null default false,
  cpi               text not null,
  created_at        timestamptz not null,
  stemcell_name     text not null,
  stemcell_version  text not null,
  stemcell_api_version integer not null,
  api_version       integer not null,
  channel           text not null,
  env               jsonb not null,
  cloud_properties  jsonb not null,
  networks          jsonb not null,
  disks             jsonb not null,
  agent_url         text not null,
  certificate_until timestamptz,
  ready             boolean not null default false
);
create unique index vms_one_active on vms (instance_id) where active;
create index vms_instance on vms (instance_id);

-- VMs that create-swap-delete has left behind, with their addresses.
create table orphaned_vms (
  id              bigint generated always as identity primary key,
  cid             text not null unique check (cid <> ''),
  cpi             text not null,
  az              text,
  stemcell_api_version integer not null,
  deployment_name text not null,
  instance_name   text not null,
  orphaned_at     timestamptz not null default now()
);

create table persistent_disks (
  id               bigint generated always as identity primary key,
  instance_id      bigint not null references instances,
  cid              text not null unique check (cid <> ''),
  size             integer not null,
  cloud_properties jsonb not null,
  cpi              text not null,
  active           boolean not null,
  attached_to      text,
  hint             jsonb,
  mounted          boolean not null default false
);
create unique index disks_one_active on persistent_disks (instance_id) where active;
create index disks_instance on persistent_disks (instance_id);

-- The only place disks are deleted from.
create table orphan_disks (
  id               bigint generated always as identity primary key,
  cid              text not null unique check (cid <> ''),
  size             integer not null,
  cloud_properties jsonb not null,
  cpi              text not null,
  az               text,
  deployment_name  text not null,
  instance_name    text not null,
  orphaned_at      timestamptz not null default now()
);

create table ip_addresses (
  address        text primary key,
  network_name   text not null,
  static         boolean not null,
  instance_id    bigint references instances,
  orphaned_vm_id bigint references orphaned_vms on delete cascade,
  task_id        bigint,
  check ((instance_id is null) <> (orphaned_vm_id is null))
);
create index ip_addresses_instance on ip_addresses (instance_id);

-- What was begun: committed before an outside call, closed with its outcome.
create table intents (
  id            bigint generated always as identity primary key,
  task_id       bigint not null,
  deployment    text not null,
  instance_uuid text,
  step          text not null,
  intent        jsonb not null,
  state         text not null default 'open',
  opened_at     timestamptz not null default now(),
  closed_at     timestamptz
);
create index intents_open on intents (deployment) where state = 'open';
create index intents_task on intents (task_id);

-- What may exist in a cloud without a record of ours.
create table strays (
  id         bigint generated always as identity primary key,
  kind       text not null,
  cpi        text not null,
  request_id text not null,
  about      text not null,
  why        text not null,
  noted_at   timestamptz not null default now()
);
`;
