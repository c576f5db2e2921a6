import { createHash } from "node:crypto";

/**
 * Current text of all SQL functions. It is applied after the migrations whenever it differs from what the database has, so a
 * change is made here, in place. A change that a Director of the previous schema could not work with comes with a migration,
 * so that this Director refuses the database instead of putting the old text back. A migration also drops a function that goes
 * or whose parameters or result change, and creates one that a trigger needs, because triggers are created by migrations.
 */
export const FUNCTIONS = `
-- Lets a statement fail by what it finds, so that a whole transaction can be sent at once.
create or replace function must(holds boolean, state text, problem text) returns boolean language plpgsql as $$
begin
  if holds is not true then
    raise exception using errcode = state, message = problem;
  end if;
  return true;
end
$$;

-- Fences a task. The shared lock lasts to the end of the transaction: a Director that takes the task over waits for it (see claim).
create or replace function hold(task bigint, holder text, run integer) returns boolean language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(732045, (task % 2147483647)::integer);
  perform 1 from tasks where id = task and lease_owner = holder and attempts = run
    and state in ('processing', 'cancelling');
  if not found then
    raise exception using errcode = 'SW004', message = 'task ' || task || ' is run by another';
  end if;
  return true;
end
$$;

-- Writes what steps have done, what it changes and their next intents: all of it or nothing, in one statement.
create or replace function write_journal(task bigint, holder text, run integer, entries jsonb, intents text[], envs text[])
returns void language plpgsql as $$
declare one jsonb;
begin
  perform hold(task, holder, run);
  for one in select value from jsonb_array_elements(entries) loop
    perform write_entry(task, one, intents, envs);
  end loop;
end
$$;

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
    insert into intents (task_id, number, scope, instance_uuid, step, version, intent_sealed, settling_refused)
    select task, x.number, x.scope, x.instance, x.step, x.version, intents[x.nth], coalesce(x.settling_refused, false)
    from jsonb_to_record(entry -> 'open')
      as x(nth integer, number bigint, scope text, instance text, step text, version integer, settling_refused boolean);
  end if;
end
$$;

create or replace function write_instance(entry jsonb, envs text[]) returns void language plpgsql as $$
declare
  this_instance bigint;
  about record;
  one record;
  added bigint;
begin
  select i.id, i.az, i.group_name || '/' || i.uuid as name, d.name as deployment into about
    from instances i join deployments d on d.id = i.deployment_id where i.uuid = entry ->> 'uuid';
  if not found then
    raise exception using errcode = 'SW001', message = 'there is no instance ' || (entry ->> 'uuid');
  end if;
  this_instance := about.id;
  if entry ? 'gone_vms' then
    delete from vms where instance_id = this_instance and cid = any (texts(entry -> 'gone_vms'));
  end if;
  if entry ? 'vms' then perform write_vms(this_instance, entry, envs); end if;
  if entry ? 'gone_disks' then
    delete from persistent_disks where instance_id = this_instance and cid = any (texts(entry -> 'gone_disks'));
  end if;
  if entry ? 'disks' then perform write_disks(this_instance, entry); end if;
  if entry ? 'orphan_disks' then
    insert into orphan_disks (cid, size, cloud_properties, cpi, az, deployment_name, instance_name)
    select x.cid, x.size, x.cloud_properties, x.cpi, about.az, about.deployment, about.name
    from jsonb_to_recordset(entry -> 'orphan_disks') as x(cid text, size integer, cloud_properties jsonb, cpi text);
  end if;
  for one in select * from jsonb_to_recordset(coalesce(entry -> 'orphaned_vms', '[]'))
    as x(cid text, cpi text, stemcell_api_version integer, addresses jsonb)
  loop
    insert into orphaned_vms (cid, cpi, az, stemcell_api_version, deployment_name, instance_name)
      values (one.cid, one.cpi, about.az, one.stemcell_api_version, about.deployment, about.name)
      returning id into added;
    update ip_addresses set instance_id = null, orphaned_vm_id = added
      where instance_id = this_instance and address = any (texts(one.addresses));
  end loop;
  if entry ? 'set' then
    update instances set
      state = coalesce(entry #>> '{set,state}', state),
      az = case when entry -> 'set' ? 'az' then entry #>> '{set,az}' else az end,
      bootstrap = coalesce((entry #>> '{set,bootstrap}')::boolean, bootstrap),
      update_completed = coalesce((entry #>> '{set,update_completed}')::boolean, update_completed),
      spec = coalesce(entry #> '{set,spec}', spec)
    where id = this_instance;
  end if;
  if entry ? 'free_ips' then
    delete from ip_addresses where instance_id = this_instance and address = any (texts(entry -> 'free_ips'));
  end if;
  if entry ? 'removed' then
    delete from ip_addresses where instance_id = this_instance;
    delete from instances where id = this_instance;
  end if;
end
$$;

create or replace function write_vms(this_instance bigint, entry jsonb, envs text[]) returns void language plpgsql as $$
declare written integer;
begin
  -- The index that allows one active per instance looks at each row as it changes.
  if jsonb_array_length(entry -> 'vms') > 1 then
    update vms set active = false where instance_id = this_instance and active and cid in (
      select x.cid from jsonb_to_recordset(entry -> 'vms') as x(cid text, active boolean) where not x.active);
  end if;
  insert into vms (instance_id, cid, agent_id, active, cpi, created_at, stemcell_name, stemcell_version,
    stemcell_api_version, api_version, channel, env_sealed, cloud_properties, networks, disks, agent_url,
    certificate_until, ready, agent_env, nats_trust)
  select this_instance, x.cid, x.agent_id, x.active, x.cpi, to_timestamp(x.created_ms / 1000), x.stemcell_name,
    x.stemcell_version, x.stemcell_api_version, x.api_version, x.channel, envs[x.nth], x.cloud_properties,
    x.networks, x.disks, x.agent_url, to_timestamp(x.until_ms / 1000), x.ready, x.agent_env, x.nats_trust
  from jsonb_to_recordset(entry -> 'vms') as x(cid text, agent_id text, active boolean, cpi text,
    created_ms float8, stemcell_name text, stemcell_version text, stemcell_api_version integer,
    api_version integer, channel text, nth integer, cloud_properties jsonb, networks jsonb, disks jsonb,
    agent_url text, until_ms float8, ready boolean, agent_env text, nats_trust text)
  order by x.nth
  on conflict (cid) do update set active = excluded.active, networks = excluded.networks, disks = excluded.disks,
    agent_url = excluded.agent_url, certificate_until = excluded.certificate_until, ready = excluded.ready,
    nats_trust = excluded.nats_trust
  where vms.instance_id = excluded.instance_id;
  get diagnostics written = row_count;
  if written <> jsonb_array_length(entry -> 'vms') then
    raise exception using errcode = 'SW001', message = 'a VM belongs to another instance: ' || (
      select string_agg(x.cid, ', ') from jsonb_to_recordset(entry -> 'vms') as x(cid text));
  end if;
end
$$;

create or replace function write_disks(this_instance bigint, entry jsonb) returns void language plpgsql as $$
declare written integer;
begin
  if entry ? 'renamed' then
    update persistent_disks d set cid = x.cid
      from jsonb_to_recordset(entry -> 'disks') as x(cid text, was text)
      where d.instance_id = this_instance and d.cid = x.was and x.was <> x.cid;
  end if;
  if jsonb_array_length(entry -> 'disks') > 1 then
    update persistent_disks set active = false where instance_id = this_instance and active and cid in (
      select x.cid from jsonb_to_recordset(entry -> 'disks') as x(cid text, active boolean) where not x.active);
  end if;
  insert into persistent_disks (instance_id, cid, name, size, cloud_properties, cpi, active, attached_to, hint,
    mounted, created_at)
  select this_instance, x.cid, coalesce(x.name, ''), x.size, x.cloud_properties, x.cpi, x.active, x.attached_to,
    x.hint, x.mounted, to_timestamp(x.created_ms / 1000)
  from jsonb_to_recordset(entry -> 'disks') as x(nth integer, cid text, name text, size integer,
    cloud_properties jsonb, cpi text, active boolean, attached_to text, hint jsonb, mounted boolean, created_ms float8)
  where not exists (select 1 from orphan_disks o where o.cid = x.cid)
  order by x.nth
  on conflict (cid) do update set size = excluded.size, cloud_properties = excluded.cloud_properties,
    active = excluded.active, attached_to = excluded.attached_to, hint = excluded.hint, mounted = excluded.mounted
  where persistent_disks.instance_id = excluded.instance_id;
  get diagnostics written = row_count;
  if written <> jsonb_array_length(entry -> 'disks') then
    raise exception using errcode = 'SW001', message = 'a disk is orphaned or belongs to another instance: ' || (
      select string_agg(x.cid, ', ') from jsonb_to_recordset(entry -> 'disks') as x(cid text));
  end if;
end
$$;

create or replace function write_strays(list jsonb) returns void language plpgsql as $$
declare
  one record;
  added bigint;
begin
  for one in select * from jsonb_to_recordset(list)
    as x(kind text, cpi text, request_id text, about text, why text, addresses jsonb)
  loop
    insert into strays (kind, cpi, request_id, about, why)
      select one.kind, one.cpi, one.request_id, one.about, one.why
      where not exists (select 1 from strays s
        where s.kind = one.kind and s.cpi = one.cpi and s.request_id = one.request_id)
      returning id into added;
    -- Nobody else gets its addresses while it is listed.
    if added is not null then
      update ip_addresses set instance_id = null, stray_id = added
        where address = any (texts(one.addresses)) and instance_id is not null;
    end if;
  end loop;
end
$$;

create or replace function write_stemcells(task bigint, entry jsonb) returns void language plpgsql as $$
begin
  -- With --fix another image takes the place of the one that was recorded.
  insert into strays (kind, cpi, request_id, about, why)
  select 'stemcell', s.cpi, s.cid, 'stemcell ' || s.name || '/' || s.version || ' with the cid ' || s.cid,
    'upload-stemcell --fix made another in its place; VMs may still be made from it'
  from stemcells s join jsonb_to_recordset(entry -> 'add_stemcells') as x(name text, version text, cpi text, cid text)
    on s.name = x.name and s.version = x.version and s.cpi = x.cpi
  where s.cid <> x.cid;
  insert into stemcells (name, version, operating_system, cid, digest, cpi, api_version, task_id)
  select x.name, x.version, x.operating_system, x.cid, x.digest, x.cpi, x.api_version, task
  from jsonb_to_recordset(entry -> 'add_stemcells') as x(name text, version text, operating_system text, cid text,
    digest text, cpi text, api_version integer)
  on conflict (name, version, cpi) do update set operating_system = excluded.operating_system, cid = excluded.cid,
    digest = excluded.digest, api_version = excluded.api_version, task_id = excluded.task_id;
  insert into stemcell_uploads (name, version, cpi)
  select x.name, x.version, x.cpi
  from jsonb_to_recordset(entry -> 'add_stemcells') as x(name text, version text, cpi text)
  on conflict do nothing;
  delete from stemcell_uploads u using stemcells s,
    jsonb_to_recordset(entry -> 'remove_stemcells') as x(cid text, cpi text)
    where s.cid = x.cid and s.cpi = x.cpi and u.name = s.name and u.version = s.version and u.cpi = s.cpi;
  delete from stemcells s using jsonb_to_recordset(entry -> 'remove_stemcells') as x(cid text, cpi text)
    where s.cid = x.cid and s.cpi = x.cpi;
end
$$;

create or replace function texts(list jsonb) returns text[] language sql immutable as $$
  select coalesce(array_agg(value), '{}') from jsonb_array_elements_text(list)
$$;

-- Wakes the Directors that wait for tasks or locks.
create or replace function tell() returns trigger language plpgsql as $$
begin
  perform pg_notify('slipway', tg_argv[0]);
  return null;
end
$$;

-- Snapshots follow their disk by its cid, which is unique in the Director: its CPI may have got another name (migrated_from).
create or replace function snapshots_follow() returns trigger language plpgsql as $$
begin
  update snapshots set disk_cid = new.cid where disk_cid = old.cid;
  return null;
end
$$;

-- Records the snapshots of a disk as strays if the disk is in neither list anymore.
create or replace function snapshots_left() returns trigger language plpgsql as $$
begin
  if exists (select 1 from persistent_disks where cid = old.cid)
    or exists (select 1 from orphan_disks where cid = old.cid) then return null; end if;
  with gone as (delete from snapshots where disk_cid = old.cid returning *)
  insert into strays (kind, cpi, request_id, about, why)
  select 'snapshot', cpi, cid, 'snapshot ' || cid || ' of disk ' || disk_cid, 'its disk is gone' from gone;
  return null;
end
$$;

-- The parent is the newest event of the task that began the same action with the same object and that has not ended.
create or replace function find_event_parent() returns trigger language plpgsql as $$
begin
  new.parent_id := (
    select max(begun.id) from events begun
    where begun.task_id = new.task_id and begun.object_type = new.object_type and begun.action = new.action
      and begun.parent_id is null and coalesce(begun.instance, '') = coalesce(new.instance, '')
      and (begun.object_name is null or new.object_name is null or begun.object_name = new.object_name));
  return new;
end
$$;
`;

/** Digest of `FUNCTIONS`, which the database keeps, so that a start does not replace what is current. */
export const FUNCTIONS_DIGEST = createHash("sha256").update(FUNCTIONS).digest("hex");
