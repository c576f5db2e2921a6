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

alter table stemcells add column task_id bigint;
alter table persistent_disks add column created_at timestamptz;
`;
