/**
 * A Director that was restored does not know what an earlier life of it has done since the backup. A deployment is changed again,
 * and watched over, once an operator has looked at its cloud (`restored` is null); steps that were begun then are not taken up.
 */
export const restores = `
create table restores (
  id          bigint generated always as identity primary key,
  backup      text not null,
  taken_at    timestamptz not null,
  restored_at timestamptz not null default now(),
  -- Of a Director, since: from then on there is more than the backup has.
  started_at  timestamptz
);
alter table deployments add column restored bigint references restores;
alter table intents add column restored boolean not null default false;
`;
