/**
 * Resurrections that were asked for and not seen to end well: what has begun to replace a VM goes on, also after a
 * failure. `resurrection_paused`: nobody replaces the VM of that instance by itself.
 */
export const health = `
alter table instances add column resurrection_paused boolean not null default false;

create table resurrections (
  instance_id bigint primary key references instances (id) on delete cascade,
  task_id bigint not null,
  attempts integer not null default 0,
  begun boolean not null default false,
  noted_at timestamptz not null default now()
);
`;
