/**
 * Several disks of one instance, each with a name; the one without is mounted. One of each name is active. Jobs learn the
 * names by links.
 */
export const namedDisks = `
alter table persistent_disks add column name text not null default '';
drop index disks_one_active;
create unique index disks_one_active on persistent_disks (instance_id, name) where active;

alter table link_providers drop constraint link_providers_kind_check;
alter table link_providers add constraint link_providers_kind_check check (kind in ('job', 'manual', 'disk'));
`;
