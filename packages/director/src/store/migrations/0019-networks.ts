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

create or replace function write_entry(task bigint, entry jsonb, intents text[], envs text[])
returns void language plpgsql as $$
begin
  if entry ? 'close' then
    delete from intents where task_id = (entry #>> '{close,task}')::bigint
      and number = (entry #>> '{close,number}')::bigint;
    -- It was closed before: nothing that goes with it is written again.
    if not found then return; end if;
  end if;
  if entry ? 'strays' then perform write_strays(entry -> 'strays'); end if;
  if entry ? 'instance' then perform write_instance(entry -> 'instance', envs); end if;
  if entry ? 'stemcells' then perform write_stemcells(task, entry -> 'stemcells'); end if;
  if entry ? 'gone_orphan_disks' then
    delete from orphan_disks where cid = any (texts(entry -> 'gone_orphan_disks'));
  end if;
  if entry ? 'gone_orphaned_vms' then
    delete from orphaned_vms where cid = any (texts(entry -> 'gone_orphaned_vms'));
  end if;
  if entry ? 'snapshots' then
    insert into snapshots (cid, cpi, disk_cid, clean, created_at, task_id)
    select x.cid, x.cpi, x.disk_cid, x.clean, to_timestamp(x.created_ms / 1000.0), x.task_id
    from jsonb_to_recordset(entry -> 'snapshots')
      as x(cid text, cpi text, disk_cid text, clean boolean, created_ms bigint, task_id bigint)
    on conflict (cpi, cid) do nothing;
  end if;
  if entry ? 'gone_snapshots' then
    delete from snapshots s using jsonb_to_recordset(entry -> 'gone_snapshots') as x(cid text, cpi text)
      where s.cid = x.cid and s.cpi = x.cpi;
  end if;
  if entry ? 'subnets' then
    -- What was settled late, after everybody gave the network up, is still somebody's to see.
    insert into networks (name, orphaned_at)
    select distinct x.network, now() from jsonb_to_recordset(entry -> 'subnets') as x(network text)
    on conflict (name) do nothing;
    insert into subnets (network_id, name, cid, cpi, range, gateway, reserved, cloud_properties)
    select n.id, x.name, x.cid, x.cpi, x.range, x.gateway, x.reserved, x.cloud_properties
    from jsonb_to_recordset(entry -> 'subnets') as x(network text, name text, cid text, cpi text, range text,
      gateway text, reserved jsonb, cloud_properties jsonb)
    join networks n on n.name = x.network
    on conflict (cpi, cid) do nothing;
  end if;
  if entry ? 'gone_subnets' then
    delete from subnets s using jsonb_to_recordset(entry -> 'gone_subnets') as x(cid text, cpi text)
      where s.cid = x.cid and s.cpi = x.cpi;
  end if;
  if entry ? 'events' then
    insert into events (parent_id, username, action, object_type, object_name, error, task_id, deployment, instance, context)
    select x.parent_id, (select username from tasks where id = task), x.action, x.object_type, x.object_name, x.error,
      task, x.deployment, x.instance, coalesce(x.context, '{}')
    from jsonb_to_recordset(entry -> 'events') as x(parent_id bigint, action text, object_type text,
      object_name text, error text, deployment text, instance text, context jsonb);
  end if;
  if entry ? 'open' then
    insert into intents (task_id, number, scope, instance_uuid, step, version, intent_sealed)
    select task, x.number, x.scope, x.instance, x.step, x.version, intents[x.nth]
    from jsonb_to_record(entry -> 'open')
      as x(nth integer, number bigint, scope text, instance text, step text, version integer);
  end if;
end
$$;
`;
