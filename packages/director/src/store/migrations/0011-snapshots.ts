/**
 * Snapshots of disks. They follow their disk by its cid, from its instance to the orphan list, and go before it does. Waiters for
 * tasks or locks are notified of rows that changed, not of statements that found none: looking for a task is such a statement,
 * and would notify itself forever.
 */
export const snapshots = `
create table snapshots (
  id         bigint generated always as identity primary key,
  cid        text not null,
  cpi        text not null,
  disk_cid   text not null,
  -- Taken while nothing wrote to the disk.
  clean      boolean not null,
  created_at timestamptz not null,
  -- That has asked for it.
  task_id    bigint not null,
  unique (cpi, cid)
);
create index snapshots_disk on snapshots (disk_cid);

create function snapshots_follow() returns trigger language plpgsql as $$
begin
  update snapshots set disk_cid = new.cid where disk_cid = old.cid and cpi = old.cpi;
  return null;
end
$$;
create trigger snapshots_follow after update of cid on persistent_disks for each row
  when (old.cid <> new.cid) execute function snapshots_follow();

-- A disk that is in neither list any more leaves no snapshot behind that nobody sees.
create function snapshots_left() returns trigger language plpgsql as $$
begin
  if exists (select 1 from persistent_disks where cid = old.cid)
    or exists (select 1 from orphan_disks where cid = old.cid) then return null; end if;
  with gone as (delete from snapshots where disk_cid = old.cid and cpi = old.cpi returning *)
  insert into strays (kind, cpi, request_id, about, why)
  select 'snapshot', cpi, cid, 'snapshot ' || cid || ' of disk ' || disk_cid, 'its disk is gone' from gone;
  return null;
end
$$;
create constraint trigger snapshots_left after delete on persistent_disks deferrable initially deferred
  for each row execute function snapshots_left();
create constraint trigger snapshots_left after delete on orphan_disks deferrable initially deferred
  for each row execute function snapshots_left();

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

drop trigger tasks_tell_change on tasks;
create trigger tasks_tell_change after update of state, lease_owner on tasks for each row
  when (old.state is distinct from new.state or old.lease_owner is distinct from new.lease_owner)
  execute function tell('tasks');
drop trigger locks_tell on locks;
create trigger locks_tell after delete on locks for each row execute function tell('locks');
`;
