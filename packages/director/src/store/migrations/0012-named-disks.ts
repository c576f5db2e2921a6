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
`;
