/**
 * Resurrections that were requested and not seen to end well: one that has begun to replace a VM goes on, also after a failure.
 * `resurrection_paused`: the VM of that instance is not replaced without a request.
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
