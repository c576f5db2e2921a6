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

drop trigger tasks_tell_change on tasks;
create trigger tasks_tell_change after update of state, lease_owner on tasks for each row
  when (old.state is distinct from new.state or old.lease_owner is distinct from new.lease_owner)
  execute function tell('tasks');
drop trigger locks_tell on locks;
create trigger locks_tell after delete on locks for each row execute function tell('locks');
`;
