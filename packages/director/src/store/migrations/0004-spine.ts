/**
 * One writer per task: `hold` fences, `write_journal` is a step's outcome, what it changes, and the next intent in one statement.
 * Intents are kept while they are open. What may hold secrets is sealed by the Director. Tasks and locks wake their waiters.
 */
export const spine = `
delete from intents where state <> 'open';
alter table intents drop column state, drop column closed_at;
drop index if exists intents_open;
alter table intents rename column deployment to scope;
alter table intents add column number bigint, add column version integer not null default 1;
update intents set number = id;
alter table intents drop column id, alter column number set not null, add primary key (task_id, number);
alter table intents rename column intent to intent_sealed;
alter table intents alter column intent_sealed type text using intent_sealed::text;
drop index if exists intents_task;
create index intents_scope on intents (scope);

update tasks set params = '{}' where state in ('done', 'error', 'cancelled', 'timeout');
alter table tasks rename column params to params_sealed;
alter table tasks alter column params_sealed type text using params_sealed::text;

alter table vms rename column env to env_sealed;
alter table vms alter column env_sealed type text using env_sealed::text;

alter table deployments rename column manifest_text to manifest_sealed;
update deployments set manifest_sealed = to_json(manifest_sealed)::text where manifest_sealed is not null;

alter table ip_addresses add column stray_id bigint references strays on delete cascade;
alter table ip_addresses drop constraint ip_addresses_check;
alter table ip_addresses add constraint ip_addresses_one_holder
  check (num_nonnulls(instance_id, orphaned_vm_id, stray_id) = 1);

create function tell() returns trigger language plpgsql as $$
begin
  perform pg_notify('slipway', tg_argv[0]);
  return null;
end
$$;
create trigger tasks_tell_new after insert on tasks for each statement execute function tell('tasks');
create trigger tasks_tell_change after update of state, lease_owner on tasks
  for each statement execute function tell('tasks');
create trigger locks_tell after delete on locks for each statement execute function tell('locks');

-- The shared lock lasts to the end of the transaction: whoever takes the task over waits for it (see claim).
create function hold(task bigint, holder text, run integer) returns boolean language plpgsql as $$
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

create function texts(list jsonb) returns text[] language sql immutable as $$
  select coalesce(array_agg(value), '{}') from jsonb_array_elements_text(list)
$$;

create function write_vms(this_instance bigint, entry jsonb, envs text[]) returns void language plpgsql as $$
declare written integer;
begin
  -- The index that allows one active per instance looks at each row as it changes.
  if jsonb_array_length(entry -> 'vms') > 1 then
    update vms set active = false where instance_id = this_instance and active and cid in (
      select x.cid from jsonb_to_recordset(entry -> 'vms') as x(cid text, active boolean) where not x.active);
  end if;
  insert into vms (instance_id, cid, agent_id, active, cpi, created_at, stemcell_name, stemcell_version,
    stemcell_api_version, api_version, channel, env_sealed, cloud_properties, networks, disks, agent_url,
    certificate_until, ready)
  select this_instance, x.cid, x.agent_id, x.active, x.cpi, to_timestamp(x.created_ms / 1000), x.stemcell_name,
    x.stemcell_version, x.stemcell_api_version, x.api_version, x.channel, envs[x.nth], x.cloud_properties,
    x.networks, x.disks, x.agent_url, to_timestamp(x.until_ms / 1000), x.ready
  from jsonb_to_recordset(entry -> 'vms') as x(cid text, agent_id text, active boolean, cpi text,
    created_ms float8, stemcell_name text, stemcell_version text, stemcell_api_version integer,
    api_version integer, channel text, nth integer, cloud_properties jsonb, networks jsonb, disks jsonb,
    agent_url text, until_ms float8, ready boolean)
  order by x.nth
  on conflict (cid) do update set active = excluded.active, networks = excluded.networks, disks = excluded.disks,
    agent_url = excluded.agent_url, certificate_until = excluded.certificate_until, ready = excluded.ready
  where vms.instance_id = excluded.instance_id;
  get diagnostics written = row_count;
  if written <> jsonb_array_length(entry -> 'vms') then
    raise exception using errcode = 'SW001', message = 'a VM belongs to another instance: ' || (
      select string_agg(x.cid, ', ') from jsonb_to_recordset(entry -> 'vms') as x(cid text));
  end if;
end
$$;

create function write_disks(this_instance bigint, entry jsonb) returns void language plpgsql as $$
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
  insert into persistent_disks (instance_id, cid, size, cloud_properties, cpi, active, attached_to, hint, mounted,
    created_at)
  select this_instance, x.cid, x.size, x.cloud_properties, x.cpi, x.active, x.attached_to, x.hint, x.mounted,
    to_timestamp(x.created_ms / 1000)
  from jsonb_to_recordset(entry -> 'disks') as x(nth integer, cid text, size integer, cloud_properties jsonb,
    cpi text, active boolean, attached_to text, hint jsonb, mounted boolean, created_ms float8)
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

create function write_instance(entry jsonb, envs text[]) returns void language plpgsql as $$
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

create function write_strays(list jsonb) returns void language plpgsql as $$
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

alter table stemcells add column task_id bigint;
alter table persistent_disks add column created_at timestamptz;

create function write_stemcells(task bigint, entry jsonb) returns void language plpgsql as $$
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

create function write_entry(task bigint, entry jsonb, intents text[], envs text[])
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

-- All of them or none, in one transaction.
create function write_journal(task bigint, holder text, run integer, entries jsonb, intents text[], envs text[])
returns void language plpgsql as $$
declare one jsonb;
begin
  perform hold(task, holder, run);
  for one in select value from jsonb_array_elements(entries) loop
    perform write_entry(task, one, intents, envs);
  end loop;
end
$$;
`;
